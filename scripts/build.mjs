// `npm run build`: makes what images run with plain `node`, and the SDK and the command line as they are published.
// Our own code goes into one file for each program in `dist/`; packages stay in `node_modules`. The command line's is
// in pieces, so that a command loads what it needs.
import { spawnSync } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The programs, by their names in `dist/`. The keeper of Postgres is found beside the bundle that starts it. */
const programs = {
  api: "apps/api/src/server.ts",
  worker: "apps/worker/src/main.ts",
  migrate: "apps/engine/src/migrate-command.ts",
  tandem: "apps/standalone/src/main.ts",
  keys: "apps/standalone/src/keys.ts",
  "postgres-keeper": "apps/standalone/src/embedded-postgres/postgres-keeper.ts",
};

/** The command line, in `apps/cli/dist/`, beside the bin that runs it. */
const commandLine = {
  main: "apps/cli/src/main.ts",
  "postgres-keeper": programs["postgres-keeper"],
};

/** Which packages production installs: what any workspace names as its dependency. */
async function readDependencies() {
  const names = new Set();
  for (const workspace of await readdir(new URL("../apps", import.meta.url))) {
    const file = new URL(`../apps/${workspace}/package.json`, import.meta.url);
    const { dependencies = {} } = JSON.parse(await readFile(file, "utf8"));
    for (const name of Object.keys(dependencies)) names.add(name);
  }
  return names;
}

/**
 * Bundles the workspaces and leaves packages out. A package that a program in `dist/` would not find in
 * production, or would find in another version than the source does, fails the build instead of the start.
 */
function keepPackagesOut(dependencies, folder) {
  return {
    name: "keep-packages-out",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
        if (kind === "entry-point" || pluginData === "checking" || path.startsWith("@tandem/")) return;
        if (path.startsWith("node:")) return { external: true };
        const name = path.match(/^(@[^/]+\/)?[^/]+/)?.[0];
        if (!dependencies.has(name)) return fault(`${name} is not a dependency of any workspace`);
        const [fromSource, fromBuild] = await Promise.all(
          [resolveDir, folder].map((from) =>
            resolve(path, { kind, resolveDir: from, pluginData: "checking" }),
          ),
        );
        if (fromSource.path !== fromBuild.path) {
          return fault(`${path} is ${fromSource.path} for the source, but not for the build in ${folder}`);
        }
        return { path, external: true };
      });
    },
  };
}

function fault(text) {
  return { errors: [{ text }] };
}

const dependencies = await readDependencies();

/** Builds programs into the `dist/` of a folder. */
async function buildPrograms(folder, { entryPoints, splitting }) {
  const outdir = `${folder}dist`;
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    splitting,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["tandem-source"],
    sourcemap: true,
    plugins: [keepPackagesOut(dependencies, folder)],
    logLevel: "info",
  });
}

await buildPrograms(root, { entryPoints: programs, splitting: false });
const cli = fileURLToPath(new URL("../apps/cli/", import.meta.url));
await buildPrograms(cli, { entryPoints: commandLine, splitting: true });

const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
const { status } = spawnSync(process.execPath, [compiler, "-p", "apps/sdk/tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
