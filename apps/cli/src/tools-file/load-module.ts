// Loading a person's file, TypeScript or JavaScript, as a module.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { usageError } from "../exit-codes.ts";
import { keepProcess } from "../stray-ends.ts";
import { toHarmless } from "../terminal/harmless.ts";

/**
 * The exports of a file.
 *
 * @throws {CliError} when there is no such file, or it cannot be loaded
 */
export async function loadModule(file: string): Promise<Record<string, unknown>> {
  const path = resolve(file);
  if (!isFile(path)) throw usageError(`There is no file ${JSON.stringify(file)}.`);
  keepProcess();
  const url = pathToFileURL(path).href;
  try {
    return toExports(isTypeScriptLoaded() ? await import(url) : await importWithTsx(url));
  } catch (cause) {
    throw usageError(`${file} cannot be loaded: ${describe(cause, url)}`, { cause });
  }
}

/** What is there and no folder. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}

/** When this program runs from its source, tsx is at work already. */
function isTypeScriptLoaded(): boolean {
  return import.meta.url.endsWith(".ts");
}

/** As the source runs: modules of both kinds, and stacks that name places in TypeScript. */
async function importWithTsx(url: string): Promise<Record<string, unknown>> {
  const [esm, cjs] = await Promise.all([import("tsx/esm/api"), import("tsx/cjs/api")]);
  process.setSourceMapsEnabled(true);
  cjs.register();
  esm.register();
  return import(url) as Promise<Record<string, unknown>>;
}

/** A file of a package that is not of type `module` comes as CommonJS: its exports may be one level down. */
function toExports(loaded: Record<string, unknown>): Record<string, unknown> {
  const inner = loaded.default as Record<string, unknown> | undefined;
  const isWrapped = typeof inner === "object" && inner !== null && inner.__esModule === true;
  return isWrapped ? inner : loaded;
}

/** The error with the place in the person's own file, where its stack has one. */
function describe(error: unknown, url: string): string {
  const { message, stack } = Object(error) as Partial<Error>;
  const place = stack?.split("\n").find((line) => /^\s+at /.test(line) && line.includes(fileURLToPath(url)));
  return toHarmless(`${message ?? String(error)}${place ? `\n${place}` : ""}`);
}
