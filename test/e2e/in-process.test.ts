// `Tandem.start()`: the whole service within a program.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ConnectionError, TandemClient } from "@tandem/sdk";
import { Tandem, type TandemOptions } from "@tandem/standalone";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startFakeModel } from "../support/fake-model-server.ts";
import { startProcess } from "../support/processes.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0).reverse()) await close();
});

const startTandem = async (options: TandemOptions = {}) => {
  const tandem = await Tandem.start(options);
  closers.push(() => tandem.close());
  return tandem;
};
const temporaryFolder = async () => {
  const folder = await makeTemporaryFolder("tandem-in-process-");
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

describe("Tandem.start", () => {
  it("runs a session in a script, which then ends by itself and leaves nothing", async () => {
    const tmp = join(await temporaryFolder(), "tmp");
    await mkdir(tmp, { mode: 0o755 });
    const script = startProcess({ entry: "test/support/in-process/use-tandem.ts", env: { TMPDIR: tmp } });
    closers.push(() => script.close());
    expect(await script.exited).toEqual({ code: 0, signal: null });
    expect(script.stderr).toEqual([]);
    expect(script.stdout).toHaveLength(1);
    const { status, answer } = JSON.parse(script.stdout[0] ?? "") as { status: string; answer: string };
    expect(status).toBe("completed");
    expect(answer).toContain(`A-1001 is here, in process ${script.pid}`);
    // What Postgres is run from as root is kept for the next start; tsx keeps what it compiled.
    const left = (await readdir(tmp)).filter((name) => !/^(tandem-postgres|tsx)-/.test(name));
    expect(left).toEqual([]);
  });

  it("gives two services at once that know nothing of each other", async () => {
    const [one, other] = await Promise.all([startTandem(), startTandem()]);
    const { id } = await one.client.createSession({ body: { agent: "tandem/assistant", messages: "Hello" } });
    expect((await one.client.listSessions({})).items.map((session) => session.id)).toEqual([id]);
    expect((await other.client.listSessions({})).items).toEqual([]);
    const stranger = new TandemClient({ baseUrl: other.baseUrl, apiKey: one.apiKey });
    await expect(stranger.listSessions({})).rejects.toMatchObject({ status: 401 });
  });

  it("closes once, and nobody answers any more", async () => {
    const tandem = await startTandem();
    const client = new TandemClient({ baseUrl: tandem.baseUrl, apiKey: tandem.apiKey, maxRetries: 0 });
    await Promise.all([tandem.close(), tandem[Symbol.asyncDispose]()]);
    await tandem.close();
    await expect(client.listSessions({})).rejects.toBeInstanceOf(ConnectionError);
  });

  it("finds the sessions of the last time in a folder that is kept", async () => {
    const dataDir = await temporaryFolder();
    const first = await startTandem({ dataDir });
    const session = await first.client.startSession({ agent: "tandem/assistant", messages: "Hello" });
    await session.waitForCompletion();
    await first.close();
    const second = await startTandem({ dataDir });
    expect((await second.client.session(session.id).status()).status).toBe("completed");
  });

  it("uses the models of the environment, and no database or key of it", async () => {
    const model = await startFakeModel(() => ({ text: "From the fake model." }));
    closers.push(() => model.close());
    vi.stubEnv("TANDEM_COMPATIBLE_BASE_URL", model.baseUrl);
    vi.stubEnv("TANDEM_MODEL", "compatible/fake");
    vi.stubEnv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nowhere");
    vi.stubEnv("REDIS_URL", "redis://127.0.0.1:1");
    vi.stubEnv("TANDEM_API_KEY", "the-key-of-another-server");
    vi.stubEnv("PORT", "1");
    const tandem = await startTandem();
    const { answer } = await tandem.client.runSession({ agent: "tandem/assistant", messages: "Hello" });
    expect(answer).toBe("From the fake model.");
    expect(tandem.apiKey).not.toBe("the-key-of-another-server");
  });

  it("names every setting at fault, and starts nothing", async () => {
    const settings = { TANDEM_WORKER_CONCURRENCY: "many", TANDEM_RATE_LIMIT_PER_MINUTE: "few" };
    const fault = await Tandem.start({ settings }).catch((error: Error) => error.message);
    for (const name of Object.keys(settings)) expect(fault).toContain(name);
  });
});
