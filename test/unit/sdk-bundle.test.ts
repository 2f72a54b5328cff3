// The SDK in a browser: what a bundler makes of it.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const entry = fileURLToPath(new URL("../../apps/sdk/src/index.ts", import.meta.url));
const maxGzipBytes = 15 * 1_024;

/** A bundle for browsers of a module that imports the SDK. Fails on an import that is not in the bundle. */
async function bundle(code: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: {
      contents: code.replace("@tandem/sdk", entry),
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "es2022",
    minify: true,
    write: false,
  });
  const [file] = outputFiles;
  if (!file) throw new Error("The bundle is empty");
  return file.contents;
}

describe("a browser bundle of the SDK", () => {
  it("needs no Node built-in, and is small", async () => {
    const contents = await bundle('export * from "@tandem/sdk"');
    const code = new TextDecoder().decode(contents);
    expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*\(|\brequire\s*\(/);
    expect(code).not.toContain("node:");
    const bytes = gzipSync(contents).byteLength;
    console.info(`SDK bundle: ${contents.byteLength} bytes, ${bytes} gzipped`);
    expect(bytes).toBeLessThan(maxGzipBytes);
  });

  it("leaves out what is not used", async () => {
    const contents = await bundle('export { tool } from "@tandem/sdk"');
    console.info(`tool alone: ${contents.byteLength} bytes, ${gzipSync(contents).byteLength} gzipped`);
    expect(contents.byteLength).toBeLessThan(12_000);
  });
});
