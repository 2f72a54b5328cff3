import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { isProcessAlive } from "../../apps/standalone/src/embedded-postgres/is-process-alive.ts";
import { type FakeModel, startFakeModel } from "../support/fake-model-server.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

let folder: string;
let model: FakeModel;
let demo: TestProcess;

beforeEach(async () => {
  folder = await makeTemporaryFolder("tandem-interrupted-");
  // Its model never answers, so that the demo cannot be over before it is interrupted.
  model = await startFakeModel(() => ({ hang: true }));
  const env = {
    TMPDIR: folder,
    TANDEM_MODEL: "compatible/fake",
    TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
    TANDEM_COMPATIBLE_API_KEY: "key",
  };
  demo = startProcess({ entry: inject("programs").demo, env });
});
afterEach(async () => {
  await demo.close();
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

const demoFolders = async () => (await readdir(folder)).filter((name) => name.startsWith("tandem-demo-"));

/** The process id of the demo's Postgres. */
const findPostmaster = async () => {
  const [name = ""] = await demoFolders();
  return Number.parseInt(await readFile(join(folder, name, "postgres/data/postmaster.pid"), "utf8"), 10);
};

describe("the demo, interrupted", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s while it runs, ends its Postgres, removes its folder and exits with %i",
    async (signal, code) => {
      await demo.waitForLine(/Postgres, API and worker started/);
      await waitFor(() => model.requests.length > 0, { what: "the session's model request" });
      const postmaster = await findPostmaster();
      demo.kill(signal);
      expect(await demo.exited).toEqual({ code, signal: null });
      expect(isProcessAlive(postmaster)).toBe(false);
      expect(await demoFolders()).toEqual([]);
      expect(demo.stderr).toEqual([]);
      expect(demo.stdout.join("\n")).not.toMatch(/ at .*:\d+:\d+/);
    },
  );

  it("while it starts, and twice as Ctrl-C through npm does, leaves nothing either", async () => {
    await demo.waitForLine(/Tandem: an agent on a server/);
    expect(await demoFolders()).toHaveLength(1);
    demo.kill("SIGINT");
    demo.kill("SIGINT");
    expect(await demo.exited).toEqual({ code: 130, signal: null });
    expect(await demoFolders()).toEqual([]);
    expect(demo.stderr).toEqual([]);
    expect(demo.stdout.join("\n")).not.toContain("started in");
  });
});
