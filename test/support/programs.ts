// Programs as images run them: each in one file, for plain node. They start in a third of the time that the source takes.
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
 * @param options.splitting true for pieces that are loaded when they are needed
 */
export async function bundlePrograms<Name extends string>(
  entries: Record<Name, string>,
  { splitting = false }: { splitting?: boolean } = {},
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
    plugins: [packagesStayOut],
    logLevel: "warning",
  });
  const paths = Object.fromEntries(Object.keys(entries).map((name) => [name, join(dist, `${name}.js`)]));
  return {
    paths: paths as Record<Name, string>,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
