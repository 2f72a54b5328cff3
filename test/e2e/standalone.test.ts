import { execFile } from "node:child_process";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { type FakeModel, oneToolThenAnswer, startFakeModel } from "../support/fake-model-server.ts";
import { repositoryRoot, startProcess, type TestProcess } from "../support/processes.ts";
import { builtPrograms } from "../support/programs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { createWire, type PendingCall, resultFor, weatherTool } from "../support/wire.ts";

const run = promisify(execFile);
const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

const start = (entry: string, env: Record<string, string>): TestProcess => {
  const child = startProcess({ entry, env });
  closers.push(() => child.close());
  return child;
};
const dataFolder = async () => {
  const folder = await makeTemporaryFolder("tandem-e2e-");
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
};
const fakeModel = async (): Promise<FakeModel> => {
  const model = await startFakeModel(oneToolThenAnswer("get_weather", { city: "Paris" }));
  closers.push(() => model.close());
  return model;
};
const urlOf = async (child: TestProcess) =>
  (await child.waitForLine(/API +(http:\/\/\S+)\/api\/v2/))[1] as string;

describe("the demo", () => {
  it("shows a session whose tool runs in its own process, ends with the answer, and leaves nothing", async () => {
    const demo = start("apps/standalone/src/demo.ts", {});
    expect(await demo.exited).toEqual({ code: 0, signal: null });
    const text = demo.stdout.join("\n");
    expect(text).toContain(`get_order_status runs here, in process ${demo.pid}`);
    expect(text).toMatch(/demo\/keyword/);
    expect(text).toMatch(/Northwind Express/);
    expect(text).toMatch(/completed after \d+ events/);
    expect(text).not.toContain("\u001b[");
    expect(demo.stderr).toEqual([]);
  });
});

describe("npm start", () => {
  it("stays up, and what it prints can be pasted", async () => {
    const dataDir = await dataFolder();
    const env = { PORT: "0", TANDEM_DATA_DIR: dataDir, LOG_LEVEL: "warn" };
    const child = start("apps/standalone/src/main.ts", env);
    const url = await urlOf(child);
    const apiKey = (await child.waitForLine(/API key +(\S+)/))[1] as string;
    expect((await stat(join(dataDir, "api-key"))).mode & 0o077).toBe(0);
    await child.waitForLine(/Ctrl-C/);
    const from = child.stdout.findIndex((line) => line.startsWith("curl "));
    const curl = child.stdout.slice(from, from + 4).join("\n");
    const { stdout } = await run("bash", ["-c", `${curl} --silent`]);
    const session = JSON.parse(stdout);
    const wire = createWire(url, apiKey);
    await wire.until(session.id, "awaiting_tool_results");
    const [call] = await wire.pending(session.id);
    expect(call).toMatchObject({ tool_name: "get_order_status", args: { order_id: "A-1001" } });
    await wire.post(`/sessions/${session.id}/tool_results`, resultFor(call as PendingCall, "shipped"));
    expect((await wire.until(session.id, "completed")).answer).toContain("shipped");

    const poll = wire.get(`/sessions/${session.id}/changes?from_index=999&wait_for_seconds=25`);
    child.kill("SIGTERM");
    expect((await poll).status).toBe(204);
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });
});

describe("the standalone program, as it is built", () => {
  it("takes its settings, and goes on where it was after a SIGKILL", async () => {
    const model = await fakeModel();
    const env = {
      PORT: "0",
      TANDEM_DATA_DIR: await dataFolder(),
      TANDEM_API_KEY: "a-key-of-mine",
      TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
      TANDEM_COMPATIBLE_API_KEY: "provider-key",
      LOG_LEVEL: "warn",
      TANDEM_LEASE_MS: "1000",
      TANDEM_SWEEP_MS: "200",
    };
    const first = start(builtPrograms.standalone, env);
    const before = createWire(await urlOf(first), "a-key-of-mine");
    const agent = { name: "x", model: "compatible/fake", tools: [weatherTool] };
    const id = await before.create({ agent, messages: "Weather?" });
    await before.until(id, "awaiting_tool_results");
    first.kill("SIGKILL");
    await first.exited;

    const second = start(builtPrograms.standalone, env);
    const after = createWire(await urlOf(second), "a-key-of-mine");
    const [call] = await after.pending(id);
    await after.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, "sunny"));
    await after.until(id, "completed");
    expect(model.requests.every((request) => request.headers.authorization === "Bearer provider-key")).toBe(
      true,
    );
    second.kill("SIGTERM");
    expect((await second.exited).code).toBe(0);
  });

  it("says every fault of its settings and ends with 1", async () => {
    const child = start(builtPrograms.standalone, {
      PORT: "many",
      TANDEM_MODEL: "openai/gpt",
      TANDEM_LEASE_MS: "0",
    });
    expect((await child.exited).code).toBe(1);
    const text = child.stderr.join("\n");
    for (const name of ["PORT", "OPENAI_API_KEY", "TANDEM_LEASE_MS"]) expect(text).toContain(name);
  });
});

describe("the scripts of package.json", () => {
  it("start files that exist", async () => {
    const { scripts } = JSON.parse(await readFile(join(repositoryRoot, "package.json"), "utf8"));
    const entries = Object.values(scripts as Record<string, string>).flatMap(
      (line) => line.match(/\S+\.(?:ts|mjs)\b/g) ?? [],
    );
    expect(entries.length).toBeGreaterThan(5);
    for (const entry of entries) expect((await stat(join(repositoryRoot, entry))).isFile()).toBe(true);
  });
});
