// Runs after `npm ci` and `npm install`: makes what is generated and not committed.
// The Prisma client (its CLI would download a schema engine unless some executable is named as one), and builds of the
// SDK and of the standalone app, so that a plain `import "@tandem/sdk"` works at once.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (name) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url));

function run(script, args, env = {}) {
  if (!existsSync(script)) return; // installed without development dependencies
  const result = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout}${result.stderr}${result.error ?? ""}\n`);
  process.exit(1);
}

run(bin("prisma/build/index.js"), ["generate"], {
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  PRISMA_HIDE_UPDATE_MESSAGE: "1",
  CHECKPOINT_DISABLE: "1",
});
if (existsSync(new URL("../apps/sdk/src/index.ts", import.meta.url))) {
  run(bin("typescript/bin/tsc"), ["-p", "apps/sdk/tsconfig.build.json"]);
  // Not there in an installation without development dependencies.
  if (existsSync(bin("esbuild"))) await (await import("./bundle.mjs")).bundleStandalone();
}
