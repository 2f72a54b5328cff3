// Thousands of real sockets on one API process, each with a waiting poll, while sessions go on.
import { migrate } from "@tandem/engine/postgres/migrate";
import { expect, inject, it } from "vitest";
import { createTestDatabase } from "../support/database.ts";
import { startFakeModel } from "../support/fake-model-server.ts";
import { type Followed, follow } from "../support/follower.ts";
import { startProcess } from "../support/processes.ts";
import { createWire, type PendingCall, resultFor, weatherTool } from "../support/wire.ts";

const API_KEY = "key-of-the-thousands";
const SESSIONS = 30;
const MOST_SOCKETS = 3_000;

/** As many sockets as this process may open, some left for the rest; the API may open as many. */
function countSockets(): number {
  const report = process.report.getReport() as unknown as {
    userLimits?: { open_files?: { soft: number | "unlimited" } };
  };
  const limit = report.userLimits?.open_files?.soft ?? "unlimited";
  const free = limit === "unlimited" ? MOST_SOCKETS : limit - 200;
  return Math.floor(Math.min(MOST_SOCKETS, free) / SESSIONS) * SESSIONS;
}

const programs = inject("programs");

async function open() {
  const database = await createTestDatabase();
  await migrate(database.url);
  const model = await startFakeModel((request) =>
    request.body.messages.some(({ role }) => role === "tool")
      ? { text: "Sunny." }
      : { toolCalls: [{ name: "get_weather", arguments: { city: "Paris" } }] },
  );
  const env = {
    DATABASE_URL: database.url,
    PORT: "0",
    TANDEM_API_KEY: API_KEY,
    TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
    TANDEM_COMPATIBLE_API_KEY: "fake-provider-key",
    TANDEM_MODEL: "compatible/fake",
  };
  const api = startProcess({ entry: programs.api, env });
  const worker = startProcess({ entry: programs.worker, env });
  const [, baseUrl] = (await api.waitForLine(/Server listening at (http:[^"\s]+)/, 90_000)) as [
    string,
    string,
  ];
  await worker.waitForLine(/the worker takes steps/, 90_000);
  return {
    baseUrl,
    api,
    async close() {
      await Promise.all([api.close(), worker.close()]);
      await Promise.all([model.close(), database.drop()]);
    },
  };
}

it("thousands of waiting polls are each answered right, and nobody else waits for them", async () => {
  const sockets = countSockets();
  expect(sockets, "sockets that this machine allows").toBeGreaterThanOrEqual(1_000);
  const { baseUrl, api, close } = await open();
  const wire = createWire(baseUrl, API_KEY);
  const create = () => wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  const finish = async (id: string) => {
    const [call] = (await wire.pending(id)) as [PendingCall];
    expect((await wire.post(`/sessions/${id}/tool_results`, resultFor(call, "sun"))).status).toBe(202);
  };
  const ids = await Promise.all(Array.from({ length: SESSIONS }, create));
  for (const id of ids) await wire.until(id, "awaiting_tool_results");

  let waiting = 0;
  let tellAllWait: () => void = () => undefined;
  const allWait = new Promise<void>((resolve) => {
    tellAllWait = resolve;
  });
  const followers = Array.from({ length: sockets }, async (_, index): Promise<[string, Followed]> => {
    const sessionId = ids[index % SESSIONS] as string;
    let hasWaited = false;
    const onWait = () => {
      if (!hasWaited && ++waiting === sockets) tellAllWait();
      hasWaited = true;
    };
    return [sessionId, await follow({ baseUrl, apiKey: API_KEY, sessionId, onWait })];
  });
  await Promise.race([allWait, Promise.all(followers)]);
  expect(waiting).toBe(sockets);

  // While all of them wait, a session comes and goes as if they were not there.
  const passing = await create();
  await wire.until(passing, "awaiting_tool_results");
  await finish(passing);
  await wire.until(passing, "completed");
  expect(waiting).toBe(sockets);

  await Promise.all(ids.map(finish));
  const all = await Promise.all(followers);
  const histories = new Map<string, string[]>();
  for (const id of ids) {
    const { body } = await wire.get(`/sessions/${id}/changes`);
    histories.set(
      id,
      body.new_events.map((event: unknown) => JSON.stringify(event)),
    );
  }
  for (const [id, { status, events, refusals }] of all) {
    expect([status, refusals]).toEqual(["completed", []]);
    expect(events).toEqual(histories.get(id));
  }
  // No error and no warning in the API's log.
  expect(api.stdout.filter((line) => /"level":[456]0/.test(line))).toEqual([]);
  await close();
});
