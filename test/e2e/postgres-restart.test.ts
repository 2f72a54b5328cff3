import { migrate } from "@tandem/engine/postgres/migrate";
import { describe, expect, inject, it } from "vitest";
import { findFreePort } from "../../apps/standalone/src/embedded-postgres/find-free-port.ts";
import { startFakeModel } from "../support/fake-model-server.ts";
import { startPrivatePostgres } from "../support/private-postgres.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { startRedis } from "../support/redis.ts";
import { backends } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const API_KEY = "key-of-the-restarts";
/** No sweep helps: what happens within it is done by the queue and the wake-ups alone. */
const SWEEP_MS = 3_600_000;

const programs = inject("programs");

async function open(backend: "postgres" | "redis") {
  const postgres = await startPrivatePostgres();
  await migrate(postgres.url);
  const redis = backend === "redis" ? await startRedis() : null;
  const model = await startFakeModel((request) =>
    request.body.messages.some(({ role }) => role === "tool")
      ? { text: "Sunny." }
      : { toolCalls: [{ name: "get_weather", arguments: { city: "Paris" } }] },
  );
  const env = {
    DATABASE_URL: postgres.url,
    ...(redis ? { REDIS_URL: redis.url } : {}),
    TANDEM_API_KEY: API_KEY,
    TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
    TANDEM_COMPATIBLE_API_KEY: "fake-provider-key",
    TANDEM_MODEL: "compatible/fake",
    TANDEM_SWEEP_MS: String(SWEEP_MS),
  };
  const ports = [await findFreePort(), await findFreePort()];
  const processes = [
    startProcess({ entry: programs.worker, env }),
    ...ports.map((port) => startProcess({ entry: programs.api, env: { ...env, PORT: String(port) } })),
  ];
  await Promise.all(
    processes.map((child) => child.waitForLine(/Server listening|the worker takes steps/, 90_000)),
  );
  return {
    postgres,
    processes,
    wires: ports.map((port) => createWire(`http://127.0.0.1:${port}`, API_KEY)) as [Wire, Wire],
    async close() {
      await Promise.all(processes.map((child) => child.close()));
      await Promise.all([model.close(), redis?.close(), postgres.close()]);
    },
  };
}

/** A session from one API to the other, by the queue and the wake-ups alone. */
async function walk(here: Wire, there: Wire): Promise<void> {
  const id = await here.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  let cursor = 0;
  for (let status = "pending"; status !== "completed"; ) {
    const reply = await there.get(`/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=20`);
    expect(reply.status, "a poll that nobody woke").toBe(200);
    ({ status, next_index: cursor } = reply.body);
    const [call] = status === "awaiting_tool_results" ? await here.pending(id) : [];
    if (call) await here.post(`/sessions/${id}/tool_results`, resultFor(call as PendingCall, "sun"));
  }
}

async function expectRefusal(wire: Wire): Promise<void> {
  for (const path of ["/sessions", "/agents"]) {
    const reply = await wire.get(path);
    expect(reply.status, JSON.stringify(reply.body)).toBe(503);
    expect(reply.headers.get("retry-after")).toBe("1");
  }
}

const stillRuns = ({ pid }: TestProcess) => process.kill(pid, 0);

describe.concurrent("a Postgres that restarts", () => {
  it.each(backends)(
    "finds its API and worker processes at work again by themselves on %s",
    async (backend) => {
      const stack = await open(backend);
      const [one, other] = stack.wires;
      await walk(one, other);
      for (const how of ["shutdown", "kill"] as const) {
        await stack.postgres.stop(how);
        await expectRefusal(one);
        await expectRefusal(other);
        await stack.postgres.start();
        for (const wire of stack.wires) {
          const isReady = async () => (await wire.send("GET", "//readyz")).status === 200;
          await waitFor(isReady, { what: "/readyz to be 200", timeoutMs: 20_000 });
        }
        await walk(one, other);
        await walk(other, one);
      }
      for (const child of stack.processes) expect(stillRuns(child)).toBe(true);
      await stack.close();
    },
  );
});
