// The build, made before any test of whole processes: several of them run what is built, and none may find it half written.
import { spawnSync } from "node:child_process";
import { repositoryRoot } from "./processes.ts";

export default function setup(): void {
  const built = spawnSync("npm", ["run", "build"], { cwd: repositoryRoot, encoding: "utf8" });
  if (built.status !== 0) throw new Error(`npm run build failed:\n${built.stdout}${built.stderr}`);
}
