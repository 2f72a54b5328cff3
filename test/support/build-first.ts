// The build, made before any test of whole processes: several of them run what is built, and none may find it half
// written. Beside it, the programs that many of them start.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { repositoryRoot } from "./processes.ts";
import { bundlePrograms, testPrograms } from "./programs.ts";

const run = promisify(execFile);

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [programs] = await Promise.all([
    bundlePrograms(testPrograms, { splitting: true, withPackages: true }),
    build(),
  ]);
  project.provide("programs", programs.paths);
  return programs.close;
}

async function build(): Promise<void> {
  await run("npm", ["run", "build"], { cwd: repositoryRoot }).catch((error) => {
    throw new Error(`npm run build failed:\n${error.stdout}${error.stderr}`, { cause: error });
  });
}
