// The SDK in a browser: what a bundler makes of it.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { describe, expect, it } from "vitest";

const entry = fileURLToPath(new URL("../../apps/sdk/src/index.ts", import.meta.url));
/** For the client and `tool`, without what is there for schemas of Zod: pages that have none of them pay for it too. */
const maxCoreGzipBytes = 15 * 1_024;
/** For everything: toolsets, guardrails, `serveTools` and Zod's part as well. */
const maxGzipBytes = 21 * 1_024;

/** What reads schemas of Zod, in place of which nothing is bundled. */
const zodStaysOut: Plugin = {
  name: "zod-stays-out",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]schemas[/\\](?:zod-|plain-patterns)/ }, () => ({
      contents:
        "export const fromZodThree = null, toFieldPath = null, findZodFourFault = null, withPlainPatterns = null;",
    }));
  },
};

/** A bundle for browsers of a module that imports the SDK. Fails on an import that is not in the bundle. */
async function bundle(code: string, plugins: Plugin[] = []): Promise<Uint8Array> {
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
    plugins,
  });
  const [file] = outputFiles;
  if (!file) throw new Error("The bundle is empty");
  return file.contents;
}

describe("a browser bundle of the SDK", () => {
  it("is small without what reads schemas of Zod", async () => {
    const contents = await bundle('export { TandemClient, tool } from "@tandem/sdk"', [zodStaysOut]);
    const bytes = gzipSync(contents, { level: 9 }).byteLength;
    console.info(`SDK core: ${contents.byteLength} bytes, ${bytes} gzipped`);
    expect(bytes).toBeLessThan(maxCoreGzipBytes);
  });

  it("needs no Node built-in, and is not large with all there is", async () => {
    const contents = await bundle('export * from "@tandem/sdk"');
    const code = new TextDecoder().decode(contents);
    expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*\(|\brequire\s*\(/);
    expect(code).not.toContain("node:");
    const bytes = gzipSync(contents, { level: 9 }).byteLength;
    console.info(`SDK bundle: ${contents.byteLength} bytes, ${bytes} gzipped`);
    expect(bytes).toBeLessThan(maxGzipBytes);
  });

  it("leaves out what is not used", async () => {
    const contents = await bundle('export { tool } from "@tandem/sdk"');
    console.info(`tool alone: ${contents.byteLength} bytes, ${gzipSync(contents).byteLength} gzipped`);
    expect(contents.byteLength).toBeLessThan(12_000);
  });
});
