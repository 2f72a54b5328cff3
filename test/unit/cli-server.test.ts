// Which server the command line talks to, and with which key.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findServer } from "@tandem/cli/connect";
import { findDataDir } from "@tandem/cli/data-dir";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder: string;
let dataDir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-cli-server-"));
  dataDir = join(folder, ".tandem");
  await mkdir(join(folder, "a/b"), { recursive: true });
  await mkdir(dataDir);
  await writeFile(join(dataDir, "api-key"), "kept-key\n");
});
afterAll(() => rm(folder, { recursive: true }));

describe("the data folder", () => {
  it("is the one that is named, else the nearest above, else one in this folder", () => {
    expect(findDataDir({ TANDEM_DATA_DIR: "x" }, folder)).toBe(join(folder, "x"));
    expect(findDataDir({}, join(folder, "a/b"))).toBe(dataDir);
    expect(findDataDir({}, "/nowhere/at/all")).toBe("/nowhere/at/all/.tandem");
  });
});

describe("the server", () => {
  const find = (options: object, env: Record<string, string> = {}) =>
    findServer(options, { TANDEM_DATA_DIR: dataDir, ...env });

  it("is the stack here, with the key that it keeps", async () => {
    expect(await find({})).toEqual({ baseUrl: "http://127.0.0.1:3000", apiKey: "kept-key", isNamed: false });
    await writeFile(join(dataDir, "base-url"), "http://127.0.0.1:4001\n");
    expect(await find({})).toMatchObject({ baseUrl: "http://127.0.0.1:4001", apiKey: "kept-key" });
  });

  it("is never one elsewhere that a folder names", async () => {
    for (const url of ["http://evil.example", "http://127.0.0.1.evil.example:1", "nonsense"]) {
      await writeFile(join(dataDir, "base-url"), url);
      expect(await find({}, { TANDEM_API_KEY: "mine" })).toMatchObject({ baseUrl: "http://127.0.0.1:3000" });
    }
  });

  it("gets the kept key only where no server is named", async () => {
    expect(await find({ baseUrl: "http://other" })).toEqual({
      baseUrl: "http://other",
      apiKey: null,
      isNamed: true,
    });
    expect((await find({}, { TANDEM_BASE_URL: "http://other" })).apiKey).toBeNull();
  });

  it.each([
    [{ baseUrl: "http://ann:secret@127.0.0.1:1" }, "must not hold a name or a password"],
    [{ baseUrl: "http://127.0.0.1:1", apiKey: "secret\nkey" }, "visible ASCII"],
    [{ baseUrl: "http://127.0.0.1:1", apiKey: "secret-ключ" }, "visible ASCII"],
    [{ baseUrl: "nonsense" }, "http or https URL"],
  ])("of %j is refused, and no secret is told", async (options, reason) => {
    const error = await find(options).then(
      () => new Error("it was found"),
      (error: Error) => error,
    );
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(reason) });
    expect(error.message).not.toContain("secret");
  });

  it("is that of the flags before that of the environment", async () => {
    const env = { TANDEM_BASE_URL: "http://env", TANDEM_API_KEY: "env-key" };
    expect(await find({}, env)).toEqual({ baseUrl: "http://env", apiKey: "env-key", isNamed: true });
    expect(await find({ baseUrl: "http://flag", apiKey: "flag-key" }, env)).toEqual({
      baseUrl: "http://flag",
      apiKey: "flag-key",
      isNamed: true,
    });
  });
});
