import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/processes.ts";
import {
  findDrawers,
  findImportFaults,
  findSqlFaults,
  hasDefaultExport,
  listImports,
  listRunTimeImports,
} from "./import-rule.ts";

/** Written by tools. What they import counts; how they name and export it does not. */
const generated = /\/generated\/|\/postgres\/prisma\//;

/** What Vitest only takes as a default export. */
const needsDefault = new Set([
  "vitest.config.ts",
  "test/support/global-setup.ts",
  "test/support/build-first.ts",
]);

describe("our code", () => {
  let files: { path: string; text: string }[];
  let inApps: { path: string; text: string }[];

  beforeAll(async () => {
    const paths = await Promise.all(["apps", "scripts", "test"].map(listFiles));
    const sources = [...paths.flat(), "vitest.config.ts"];
    files = await Promise.all(
      sources.map(async (path) => ({ path, text: await readFile(join(repositoryRoot, path), "utf8") })),
    );
    inApps = files.filter(({ path }) => path.startsWith("apps/") && path.includes("/src/"));
  });

  it("is all there to be looked at", () => {
    const workspaces = new Set(inApps.map(({ path }) => path.split("/")[1]));
    expect([...workspaces].sort()).toEqual(["api", "cli", "engine", "sdk", "standalone", "worker"]);
    expect(inApps.length).toBeGreaterThan(100);
  });

  it("imports one way: domain, then the data layer, then commands and queries, then api and worker", () => {
    const written = inApps.filter(({ path }) => !path.includes("/postgres/prisma/"));
    expect(written.flatMap(({ path, text }) => findImportFaults(path, text))).toEqual([]);
  });

  it("holds SQL in the data layer alone", () => {
    expect(inApps.flatMap(({ path, text }) => findSqlFaults(path, text))).toEqual([]);
  });

  it("has no drawer for anything", () => {
    const named = files.filter(({ path }) => !generated.test(path));
    expect(named.flatMap(({ path }) => findDrawers(path))).toEqual([]);
  });

  it("exports by name alone", () => {
    const written = files.filter(({ path }) => !generated.test(path) && !needsDefault.has(path));
    const faults = written.filter(({ path, text }) => hasDefaultExport(path, text));
    expect(faults.map(({ path }) => path)).toEqual([]);
  });
});

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(join(repositoryRoot, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.[mc]?[tj]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(repositoryRoot.length).replaceAll("\\", "/"))
    .map((path) => path.replace(/^\//, ""))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist)\//.test(path));
}

describe("the import rule", () => {
  const commands = "apps/engine/src/commands/x.ts";
  const wake = "apps/engine/src/wake/x.ts";
  const telemetry = "apps/engine/src/telemetry/x.ts";
  const api = "apps/api/src/routes/x.ts";

  it.each([
    { file: "apps/engine/src/domain/x.ts", line: 'import { a } from "../postgres/a.ts";' },
    { file: "apps/engine/src/domain/x.ts", line: 'import type { Engine } from "../engine.ts";' },
    { file: "apps/engine/src/postgres/x.ts", line: 'export { a } from "../commands/a.ts";' },
    { file: "apps/engine/src/postgres/x.ts", line: 'import { a } from "@tandem/engine/queries/a";' },
    { file: "apps/engine/src/queue/x.ts", line: 'import type { Engine } from "../engine.ts";' },
    { file: wake, line: 'const a = await import("../queries/a.ts");' },
    { file: wake, line: 'type A = import("../commands/a.ts").A;' },
    { file: wake, line: 'import pg from "pg";' },
    { file: "apps/engine/src/engine.ts", line: 'import { a } from "./commands/a.ts";' },
    { file: "apps/engine/src/odd/x.ts", line: "" },
    { file: telemetry, line: 'import { a } from "../postgres/a.ts";' },
    { file: telemetry, line: 'import type { Engine } from "../engine.ts";' },
    { file: "apps/engine/src/postgres/x.ts", line: 'import { a } from "../telemetry/a.ts";' },
    { file: api, line: 'import { Registry } from "prom-client";' },
    { file: commands, line: 'const a = await import("@opentelemetry/api");' },
    { file: commands, line: 'import { a } from "@tandem/api/app";' },
    { file: commands, line: 'import { Client } from "pg";' },
    { file: commands, line: 'import { PrismaClient } from "@prisma/client";' },
    { file: commands, line: 'import { a } from "../process.ts";' },
    { file: api, line: 'import { runStep } from "@tandem/worker/run-step";' },
    { file: api, line: 'import { a } from "../../../worker/src/a.ts";' },
    { file: api, line: 'import { a } from "../../../engine/src/domain/a.ts";' },
    { file: api, line: 'import { a } from "@tandem/standalone/main";' },
    { file: api, line: 'import { TandemClient } from "@tandem/sdk";' },
    { file: api, line: 'import pg from "pg";' },
    { file: api, line: 'import { a } from "../../../../test/support/a.ts";' },
    { file: "apps/worker/src/x.ts", line: 'import { app } from "@tandem/api/app";' },
    { file: "apps/sdk/src/x.ts", line: 'import { a } from "@tandem/engine/domain/a";' },
    { file: "apps/sdk/src/x.ts", line: 'import { setTimeout } from "node:timers/promises";' },
    { file: "apps/sdk/src/x.ts", line: 'const { join } = await import("path");' },
    { file: "apps/sdk/src/x.ts", line: 'import { a } from "./node/a.ts";' },
    { file: "apps/standalone/src/x.ts", line: 'import pg from "pg";' },
    { file: "apps/standalone/src/x.ts", line: 'import { a } from "@tandem/cli/a";' },
    { file: "apps/cli/src/x.ts", line: 'import pg from "pg";' },
  ])("refuses $line in $file", ({ file, line }) => {
    expect(findImportFaults(file, line)).toHaveLength(1);
  });

  it.each([
    {
      file: "apps/engine/src/postgres/x.ts",
      line: 'import pg from "pg"; import { a } from "../domain/a.ts";',
    },
    {
      file: "apps/engine/src/queue/x.ts",
      line: 'import pg from "pg"; import { a } from "../postgres/a.ts";',
    },
    { file: wake, line: 'import type pg from "pg";' },
    { file: telemetry, line: 'import { a } from "../domain/a.ts"; import { Registry } from "prom-client";' },
    { file: commands, line: 'import { a } from "../telemetry/a.ts";' },
    { file: commands, line: 'import { a } from "../queries/a.ts"; import { b } from "../engine.ts";' },
    { file: api, line: 'import { a } from "@tandem/engine/commands/a"; import Fastify from "fastify";' },
    { file: "apps/standalone/src/x.ts", line: 'import { startApi } from "@tandem/api/start-api";' },
    { file: "apps/standalone/src/x.ts", line: 'import { TandemClient } from "@tandem/sdk";' },
    { file: "apps/cli/src/x.ts", line: 'import { up } from "@tandem/standalone/run-standalone";' },
    { file: "apps/standalone/src/x.ts", line: 'import { fileJournal } from "@tandem/sdk/node";' },
    { file: "apps/sdk/src/x.ts", line: 'import { client } from "./generated/client.gen.ts";' },
    {
      file: "apps/sdk/src/node/x.ts",
      line: 'import { a } from "../a.ts"; import { join } from "node:path";',
    },
  ])("takes $line in $file", ({ file, line }) => {
    expect(findImportFaults(file, line)).toEqual([]);
  });

  it("sees imports of every form, and which of them are left at run time", () => {
    const text = `
      import a from "a"; import type { B } from "b"; import { type C } from "c"; import "d";
      export * from "e"; export type { F } from "f"; type G = import("g").G; const h = await import("h");
      import type I from "i"; // import "in-a-comment"
      const text = 'import "in-a-string"';
    `;
    expect(listImports(text).sort()).toEqual(["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    expect(listRunTimeImports(text).sort()).toEqual(["a", "c", "d", "e", "h"]);
  });

  it("sees SQL in strings and templates, and not in prose", () => {
    const sql = [
      '"SELECT 1"',
      `\`UPDATE x SET \${y}\``,
      '"select a from b"',
      "'begin'",
      '"create table x (y int)"',
    ];
    for (const text of sql)
      expect([text, findSqlFaults(api, `f(${text});`)]).toEqual([text, [expect.any(String)]]);
    const prose = [
      '"Select a tool and call it."',
      '"update the order"',
      '"Create a session"',
      '"With pleasure"',
    ];
    for (const text of prose) expect(findSqlFaults(api, `f(${text});`)).toEqual([]);
    expect(findSqlFaults("apps/engine/src/postgres/x.ts", 'f("SELECT 1")')).toEqual([]);
  });

  it("sees default exports of every form", () => {
    const defaults = [
      "export default 1;",
      "export default function a() {}",
      "export { a as default };",
      'export { default } from "a";',
    ];
    for (const text of defaults) expect([text, hasDefaultExport("x.ts", text)]).toEqual([text, true]);
    for (const text of ["export const a = 1;", 'export { default as a } from "a";', 'export * from "a";']) {
      expect([text, hasDefaultExport("x.ts", text)]).toEqual([text, false]);
    }
  });

  it("sees a drawer in a folder's and a file's name", () => {
    expect(findDrawers("apps/api/src/utils/a.ts")).toHaveLength(1);
    expect(findDrawers("apps/api/src/helpers.test.ts")).toHaveLength(1);
    expect(findDrawers("apps/api/src/useful.ts")).toEqual([]);
  });
});
