// `npm run build`: the programs that images run, and the packages as they are published.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bundleCommandLine, bundlePrograms, bundleStandalone } from "./bundle.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

await bundlePrograms();
await bundleStandalone();
await bundleCommandLine();
for (const workspace of ["sdk", "standalone"]) compile(`apps/${workspace}/tsconfig.build.json`);

function compile(project) {
  const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
  const { status } = spawnSync(process.execPath, [compiler, "-p", project], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
