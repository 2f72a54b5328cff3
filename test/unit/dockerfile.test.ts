import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "@tandem/api/config";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/processes.ts";

const dockerfile = read("Dockerfile")
  .replace(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => /^[A-Z]/.test(line));
const { port } = loadConfig({ DATABASE_URL: "postgresql://localhost/tandem" });

describe("the Dockerfile", () => {
  it("pins one base image to an exact version that the project supports", () => {
    const external = argumentsOf("FROM").filter((line) => !line.startsWith("manifests"));
    const images = new Set(external.map((line) => line.split(" ")[0]));
    expect(images.size).toBe(1);
    expect([...images][0]).toMatch(/^node:20\.(19|[2-9]\d)\.\d+-bookworm-slim$/);
  });

  it("copies what exists, from stages that exist", () => {
    const stages = argumentsOf("FROM").flatMap((line) => line.split(" AS ")[1] ?? []);
    for (const line of argumentsOf("COPY")) {
      const paths = line.split(" ").slice(0, -1);
      const stage = paths[0]?.match(/^--from=(.+)$/)?.[1];
      if (stage !== undefined) expect(stages).toContain(stage);
      else for (const path of paths) expect(existsSync(join(repositoryRoot, path)), path).toBe(true);
    }
  });

  it("installs from the manifests of every workspace", () => {
    const manifests = argumentsOf("COPY").flatMap(
      (line) => line.match(/^apps\/\S+\/package\.json/)?.[0] ?? [],
    );
    const workspaces = readdirSync(join(repositoryRoot, "apps"));
    expect(manifests.sort()).toEqual(workspaces.map((name) => `apps/${name}/package.json`).sort());
  });

  it("runs the API by default, as a user who is not root, on the port it exposes", () => {
    expect(JSON.parse(argumentsOf("CMD")[0] ?? "")).toEqual(["node", "dist/api.js"]);
    expect(argumentsOf("USER")).toEqual(["node"]);
    expect(argumentsOf("EXPOSE")).toEqual([String(port)]);
    expect(argumentsOf("ENV")[0]).toMatch(/NODE_ENV=production.* HOST=0\.0\.0\.0/);
  });

  it("gets what it copies past .dockerignore, and nothing that is private", () => {
    const allowed = [...read(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path = ""]) => path);
    const copied = argumentsOf("COPY").filter((line) => !line.startsWith("--from"));
    for (const path of copied.flatMap((line) => line.split(" ").slice(0, -1))) {
      if (path !== ".") expect(allowed).toContain(path.split("/")[0]);
    }
    expect(allowed.filter((path) => /^(\.|test|node_modules)/.test(path))).toEqual([]);
  });
});

/** What follows an instruction of the Dockerfile, wherever it stands. */
function argumentsOf(instruction: string): string[] {
  return dockerfile
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1));
}

function read(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}
