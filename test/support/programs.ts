// Programs of ours in one file each, for plain node: they start in a fraction of the time that the source takes.
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { repositoryRoot } from "./processes.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

/** Bundled programs. */
export interface Programs<Name extends string> {
  /** Their paths, for `startProcess`. */
  paths: Record<Name, string>;
  close(): Promise<void>;
}

/** What images run, as `npm run build` makes it: see build-first.ts. */
export const builtPrograms = {
  api: "dist/api.js",
  worker: "dist/worker.js",
  standalone: "dist/tandem.js",
  keys: "dist/keys.js",
};

/** What tests of many processes start again and again: services, some with a place to die in, and clients. */
export const testPrograms = {
  api: "apps/api/src/server.ts",
  worker: "apps/worker/src/main.ts",
  crashingApi: "test/support/crashing/api.ts",
  crashingWorker: "test/support/crashing/worker.ts",
  crashingClient: "test/support/crashing/client.ts",
  chaosClient: "test/chaos/client.ts",
  toolServer: "test/support/serve-look-up.ts",
  demo: "apps/standalone/src/demo.ts",
  // The demo finds it beside itself.
  "postgres-keeper": "apps/standalone/src/embedded-postgres/postgres-keeper.ts",
};

declare module "vitest" {
  export interface ProvidedContext {
    /** The paths of {@link testPrograms}, bundled with their packages. */
    programs: Record<keyof typeof testPrograms, string>;
  }
}

export interface BundleOptions {
  /** True for pieces that are loaded when they are needed. */
  splitting?: boolean;
  /**
   * True for packages that go into the bundle, which halves what a start costs. Those that look for files beside
   * them stay where they are.
   */
  withPackages?: boolean;
}

/** Packages that look for files beside them. */
const stayOut = ["@fastify/swagger-ui", "@prisma/client", "pino"];

/** What packages of CommonJS find in their module, and a bundle does not have. */
const commonJs =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';

/** Our own code goes into the bundle, packages stay where they are. */
const packagesStayOut: Plugin = {
  name: "packages-stay-out",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || path.startsWith("@tandem/") ? undefined : { path, external: true },
    );
  },
};

/**
 * Bundles programs into a folder of their own, beside what they look for above them.
 *
 * @param entries their source files, relative to the repository's root
 */
export async function bundlePrograms<Name extends string>(
  entries: Record<Name, string>,
  { splitting = false, withPackages = false }: BundleOptions = {},
): Promise<Programs<Name>> {
  const folder = await makeTemporaryFolder("tandem-programs-");
  const dist = join(folder, "dist");
  await mkdir(dist);
  for (const name of ["node_modules", "prisma", "package.json"])
    await symlink(join(repositoryRoot, name), join(folder, name));
  await build({
    absWorkingDir: repositoryRoot,
    entryPoints: entries,
    outdir: dist,
    bundle: true,
    splitting,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["tandem-source"],
    ...(withPackages
      ? { external: stayOut.flatMap((name) => [name, `${name}/*`]), banner: { js: commonJs } }
      : { plugins: [packagesStayOut] }),
    logLevel: "warning",
  });
  const paths = Object.fromEntries(Object.keys(entries).map((name) => [name, join(dist, `${name}.js`)]));
  return {
    paths: paths as Record<Name, string>,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
