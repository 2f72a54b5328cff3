// Our own code in one file for each program; packages stay in `node_modules`.
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
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

/** What a program imports as `@tandem/standalone`, with the keeper of Postgres beside it. */
const standalone = {
  tandem: "apps/standalone/src/tandem.ts",
  "postgres-keeper": programs["postgres-keeper"],
};

/** The command line, beside the bin that runs it. */
const commandLine = {
  main: "apps/cli/src/main.ts",
  "postgres-keeper": programs["postgres-keeper"],
};

const common = {
  absWorkingDir: root,
  bundle: true,
  splitting: false,
  format: "esm",
  platform: "node",
  target: "node20",
  conditions: ["tandem-source"],
  sourcemap: true,
  logLevel: "warning",
};

/** Makes what images run with plain `node`, in `dist/`. */
export async function bundlePrograms() {
  await bundle({ entryPoints: programs, outdir: "dist", bundled: /^@tandem\// });
}

/** Makes `@tandem/standalone`. The SDK stays a package: its classes must be those that the importing program has. */
export async function bundleStandalone() {
  await bundle({ entryPoints: standalone, outdir: "apps/standalone/dist", bundled: /^@tandem\/(?!sdk$)/ });
}

/** Makes the command line, in pieces, so that a command loads what it needs. */
export async function bundleCommandLine() {
  const outdir = "apps/cli/dist";
  await bundle({ entryPoints: commandLine, outdir, splitting: true, bundled: /^@tandem\// });
}

/** Builds beside the folder and then changes places with it: programs may be started from it meanwhile. */
async function bundle({ bundled, outdir, ...options }) {
  const dependencies = await readDependencies();
  const target = join(root, outdir);
  const [made, old] = ["new", "old"].map((word) => `${target}.${process.pid}.${word}`);
  const plugins = [keepPackagesOut({ dependencies, bundled, folder: dirname(target) })];
  try {
    await build({ ...common, ...options, outdir: made, plugins });
    if (existsSync(target)) await rename(target, old);
    await rename(made, target);
  } finally {
    for (const folder of [made, old]) await rm(folder, { recursive: true, force: true });
  }
}

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
 * Bundles the workspaces and leaves packages out. A package that a program would not find from there in
 * production, or would find in another version than the source does, fails the build instead of the start.
 */
function keepPackagesOut({ dependencies, bundled, folder }) {
  return {
    name: "keep-packages-out",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
        if (kind === "entry-point" || pluginData === "checking" || bundled.test(path)) return;
        if (path.startsWith("node:") || path === "@tandem/sdk") return { external: true };
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
