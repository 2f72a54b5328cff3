// A message is accepted in every state of a session, the model sees it, and the final answer is one that saw it.
import { afterEach, expect, it } from "vitest";
import type { ModelScript, ParsedChatRequest, Reply } from "../support/fake-model-server.ts";
import { createGate } from "../support/gate.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const NEWS = "And one more thing";

let stack: TestStack | undefined;
const held = { gate: createGate() };
afterEach(async () => {
  held.gate.open();
  await stack?.close();
  stack = undefined;
});

interface Scene {
  stack: TestStack;
  wire: Wire;
  id: string;
}

/** How a session comes to a state. */
interface Way {
  /** What the model says before it has seen the message. */
  reply?: Reply;
  /** True when it waits with that until the message is there. */
  isHeld?: boolean;
  request?: object;
  /** False when no worker takes the session before the message is there. */
  worker?: boolean;
  /** True when another session has the only slot until then. */
  isCrowded?: boolean;
  /** Leads to the state. */
  lead?(scene: Scene): Promise<unknown>;
  /** What it waits for, where the state alone does not tell. */
  waitsFor?: string;
  /** The state that it ends in; default `completed`. */
  end?: string;
}

const ask: Reply = { toolCalls: [{ name: "get_weather", arguments: { city: "Rome" } }] };
const answer: Reply = { text: "Answered too soon." };
const overloaded: Reply = { status: 503, body: {}, headers: { "retry-after": "2" } };
const endTime = ({ stack, id }: Scene) =>
  stack.engine.pool.query("UPDATE sessions SET time_limit_at = now() WHERE id = $1", [id]);
const cancel = ({ wire, id }: Scene) => wire.send("DELETE", `/sessions/${id}`);

const ways = {
  queued: { isCrowded: true },
  pending: { worker: false },
  running: { reply: answer, isHeld: true, waitsFor: "model" },
  awaiting_tool_results: { reply: ask },
  idle: { reply: answer, request: { idle_timeout_s: 600 }, end: "idle" },
  completed: { reply: answer },
  failed: { reply: { status: 400, body: { error: { message: "No." } } } },
  timed_out: {
    reply: ask,
    request: { max_time_s: 600 },
    lead: async (scene) => {
      await scene.wire.until(scene.id, "awaiting_tool_results");
      await endTime(scene);
    },
  },
  interrupted: { reply: ask, lead: cancel },
} satisfies Record<string, Way>;

/** States under a pause. A running session can be paused at once while it waits to ask the model again. */
const pausable: Record<string, Way> = {
  queued: ways.queued,
  pending: ways.pending,
  running: { reply: overloaded, waitsFor: "model_retry" },
  awaiting_tool_results: ways.awaiting_tool_results,
  idle: ways.idle,
};

const hasSeen = ({ body }: ParsedChatRequest) => JSON.stringify(body.messages).includes(NEWS);

async function start(way: Way): Promise<Scene> {
  held.gate = createGate();
  const script: ModelScript = async (request) => {
    if (JSON.stringify(request.body.messages).includes("Keep the slot")) return { hang: true };
    if (hasSeen(request)) return { text: `Saw: ${NEWS}` };
    if (way.isHeld) await held.gate.opened;
    // The last step of a session whose time is over has no tools.
    return request.body.tools ? (way.reply ?? answer) : answer;
  };
  const env = way.isCrowded ? { TANDEM_MAX_ACTIVE_SESSIONS: "1" } : {};
  const started = await startStack({ script, env, worker: way.worker ?? true });
  stack = started;
  const wire = createWire(started.baseUrl, apiKey);
  if (way.isCrowded) await wire.create({ agent: { name: "x" }, messages: "Keep the slot" });
  const id = await wire.create({
    agent: { name: "x", tools: [weatherTool] },
    messages: "Hi",
    ...way.request,
  });
  return { stack: started, wire, id };
}

const readStatus = async ({ wire, id }: Scene) => (await wire.get(`/sessions/${id}/status`)).body;

async function reach(scene: Scene, state: string, way: Way): Promise<void> {
  await way.lead?.(scene);
  const isThere = async () => {
    const { status, waiting_on } = await readStatus(scene);
    return status === state && (way.waitsFor === undefined || waiting_on?.what === way.waitsFor);
  };
  await waitFor(isThere, { what: `the session to be ${state}` });
}

/** Sends the message, lets everything go on that was held up for it, and waits for the end. */
async function tell(scene: Scene, way: Way): Promise<void> {
  const { wire, id } = scene;
  expect((await wire.post(`/sessions/${id}/messages`, { message: NEWS })).status).toBe(202);
  expect((await readStatus(scene)).status).not.toBe("paused");
  held.gate.open();
  if (way.worker === false) await scene.stack.addWorker();
  if (way.isCrowded) {
    const { items } = (await wire.get("/sessions")).body;
    for (const other of items) if (other.id !== id) await wire.send("DELETE", `/sessions/${other.id}`);
  }
  const end = way.end ?? "completed";
  const isOver = async () => {
    const { status, new_events: _, ...changes } = (await wire.get(`/sessions/${id}/changes`)).body;
    if (status === "awaiting_tool_results") {
      const results = (await wire.pending(id)).map((call: PendingCall) => resultFor(call, "sunny"));
      await wire.post(`/sessions/${id}/tool_results`, { type: "batch", results });
    }
    return status === end && changes.answer !== null && changes;
  };
  const { answer: said } = await waitFor(isOver, { what: "the answer" });
  expect(said).toBe(`Saw: ${NEWS}`);
  expect(scene.stack.model.requests.filter(hasSeen)).toHaveLength(1);
}

it.each(Object.entries<Way>(ways))(
  "a message to a session that is %s is seen, and answered",
  async (state, way) => {
    const scene = await start(way);
    await reach(scene, state, way);
    await tell(scene, way);
  },
);

it.each(Object.entries(pausable))(
  "a message to a session that is paused while %s resumes it, is seen, and answered",
  async (state, way) => {
    const scene = await start(way);
    await reach(scene, state, way);
    expect((await scene.wire.send("POST", `/sessions/${scene.id}/pause`)).status).toBe(202);
    await reach(scene, "paused", {});
    await tell(scene, way);
  },
);

it("a message that a process of the version before has stored is seen, and answered", async () => {
  const scene = await start(ways.running);
  await reach(scene, "running", ways.running);
  // It locks the session's row, and does not change it.
  await scene.stack.engine.pool.query(
    "INSERT INTO waiting_messages (session_id, message) SELECT id, $2 FROM sessions WHERE id = $1 FOR UPDATE",
    [scene.id, { type: "user_message", message: NEWS, images: [], caller_id: "user" }],
  );
  held.gate.open();
  await scene.wire.until(scene.id, "completed");
  expect(scene.stack.model.requests.filter(hasSeen)).toHaveLength(1);
});
