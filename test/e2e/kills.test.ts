import { afterEach, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const SESSIONS = 40;
const KILLS = 12;

/** A sequence of numbers from 0 to 1 that is the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Asks for one to four cities, as the message says, and answers with all that came back. */
const cities: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: results.map((result) => result.content).join("|"), delayMs: 20 };
  const count = Number(String(request.body.messages.at(-1)?.content));
  const calls = Array.from({ length: count }, (_, i) => ({
    name: "get_weather",
    arguments: { city: `C${i}` },
  }));
  return { toolCalls: calls, delayMs: 20 };
};

let stack: TestStack | undefined;
const workers: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await stack?.close();
  stack = undefined;
});

function startWorker(env: Record<string, string>): TestProcess {
  const worker = startProcess({ entry: "apps/worker/src/main.ts", env });
  workers.push(worker);
  return worker;
}

/** Plays the caller of one session: posts each result, some of them twice, until the session has ended. */
async function serve(wire: Wire, id: string, random: () => number): Promise<void> {
  for (let cursor = 0; ; ) {
    const { status, body } = await wire.get(
      `/sessions/${id}/changes?from_index=${cursor}&wait_for_seconds=5`,
    );
    if (status === 200) cursor = body.next_index;
    const now = (await wire.get(`/sessions/${id}/status`)).body.status;
    if (now === "completed" || now === "failed") return;
    if (now !== "awaiting_tool_results") continue;
    for (const call of await wire.pending(id)) {
      const post = () =>
        wire.post(`/sessions/${id}/tool_results`, resultFor(call, `sunny in ${call.args.city}`));
      const replies = await Promise.all(random() < 0.3 ? [post(), post()] : [post()]);
      for (const reply of replies) expect([202, 404, 409]).toContain(reply.status);
    }
  }
}

it.each(backends)(
  "workers that are killed at random lose nothing and do nothing twice on %s",
  async (backend) => {
    const random = seeded(7);
    const env = { TANDEM_LEASE_MS: "700", TANDEM_SWEEP_MS: "200", LOG_LEVEL: "silent" };
    stack = await startStack({ backend, worker: false, script: cities, env });
    const workerEnv = { ...env, ...stack.env };
    const wire = createWire(stack.baseUrl, apiKey);
    let running = [startWorker(workerEnv), startWorker(workerEnv)];
    const ids = await Promise.all(
      Array.from({ length: SESSIONS }, (_, i) =>
        wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: String((i % 4) + 1) }),
      ),
    );
    const served = Promise.all(ids.map((id) => serve(wire, id, random)));
    for (let kill = 0; kill < KILLS; kill++) {
      // A random moment of somebody's work: after so many more requests of the model, or a while without any.
      const target = stack.model.requests.length + Math.ceil(random() * 4);
      const deadline = Date.now() + 1_500;
      while (stack.model.requests.length < target && Date.now() < deadline) await wire.get("/agents");
      const [victim, other] = running as [TestProcess, TestProcess];
      victim.kill("SIGKILL");
      await victim.exited;
      running = [other, startWorker(workerEnv)];
    }
    await served;

    for (const id of ids) {
      const {
        status,
        answer,
        new_events: events,
        next_index: end,
      } = (await wire.get(`/sessions/${id}/changes`)).body;
      expect(status).toBe("completed");
      expect(events).toHaveLength(end);
      const kinds = kindsOf(events);
      const [ask] = events.filter(
        (event: { data: { tool_reqs?: unknown[] } }) => event.data.tool_reqs?.length,
      );
      const calls = ask.data.tool_reqs as PendingCall[];
      expect(kinds.filter((kind) => kind === "policy_event")).toHaveLength(2);
      expect(kinds.filter((kind) => kind === "tool_result")).toHaveLength(calls.length);
      expect(kinds.filter((kind) => kind === "answer_event")).toHaveLength(1);
      expect(answer).toBe(calls.map((call) => `sunny in ${call.args.city}`).join("|"));
    }
    for (const request of stack.model.requests) {
      const asked = request.body.messages.flatMap(
        (message) => message.tool_calls?.map((call) => call.id) ?? [],
      );
      expect(lastToolResults(request).map((result) => result.toolCallId)).toEqual(asked);
    }
  },
);
