import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript, type ParsedChatRequest } from "../support/fake-model-server.ts";
import {
  createReferenceClient,
  type Posting,
  type ReferenceClient,
  type ReferenceOutcome,
  type ReferenceTool,
  together,
} from "../support/reference-client.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";

const inline = { name: "counter", description: "Counts.", environments: [] };
const cityFormat = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
};

/**
 * The model asks for as many calls as the message says, as often as it says, and answers with what came back:
 * `3 calls, 2 rounds`.
 */
const script: ModelScript = (request) => {
  const text = JSON.stringify(request.body.messages.findLast(({ role }) => role === "user")?.content);
  const [, calls = "0", rounds = "1"] = /(\d+) calls?(?:, (\d+) rounds)?/.exec(text) ?? [];
  const results = lastToolResults(request);
  const offered = (request.body.tools ?? []).map((tool) => tool.function.name);
  if (countTurns(request) < Number(rounds) && Number(calls) > 0) {
    const numbers = Array.from({ length: Number(calls) }, (_, n) => n);
    return { toolCalls: numbers.map((n) => ({ name: "double", arguments: { number: n } })) };
  }
  if (offered.includes("submit_answer")) {
    return { toolCalls: [{ name: "submit_answer", arguments: { city: "Paris", degrees: 18 } }] };
  }
  return { text: results.map(({ content }) => content).join(",") || "Nothing to do." };
};

/** How often the model has asked for calls since its user last spoke. */
function countTurns(request: ParsedChatRequest): number {
  const { messages } = request.body;
  const start = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(start).filter(({ tool_calls }) => (tool_calls ?? []).length > 0).length;
}

const double: ReferenceTool = {
  name: "double",
  description: "Doubles a number.",
  input_schema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  run: ({ number }) => Number(number) * 2,
};

const postings: { how: string; posting: Posting }[] = [
  { how: "together", posting: together },
  { how: "one by one", posting: (results) => results.map((result) => [result]) },
  { how: "one by one, last first", posting: (results) => results.map((result) => [result]).reverse() },
  { how: "in two batches, the odd ones first", posting: inTwoBatches },
];

function inTwoBatches<T>(results: T[]): T[][] {
  const half = (rest: number) => results.filter((_, index) => index % 2 === rest);
  return [half(1), half(0)].filter((part) => part.length > 0);
}

const answerOf = (calls: number) => Array.from({ length: calls }, (_, n) => n * 2).join(",");
const eventsOf = ({ events }: ReferenceOutcome, kind: string) =>
  events.filter(({ data }) => data.kind === kind);

describe.each(backends)("a client that knows only the reference, on %s", (backend) => {
  let stack: TestStack;
  let client: ReferenceClient;

  beforeAll(async () => {
    stack = await startStack({ backend, script });
    client = createReferenceClient(stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  it.each([1, 3, 10].flatMap((calls) => postings.map((posting) => ({ calls, ...posting }))))(
    "gets its answer with $calls parallel calls whose results it posts $how",
    async ({ calls, posting }) => {
      const messages = `${calls} calls`;
      const result = await client.run({ agent: inline, messages, tools: [double], posting });
      expect(result).toMatchObject({
        status: "completed",
        answer: answerOf(calls),
        outcome: "success",
        error: null,
      });
      expect(result.ran).toHaveLength(calls);
      expect(new Set(result.posts)).toEqual(new Set([202]));
      expect(eventsOf(result, "tool_result")).toHaveLength(calls);
      const { cursor, seen } = await readAll(stack, result);
      expect(seen).toEqual(result.events);
      expect(cursor).toBe(result.events.length);
    },
  );

  it("runs several rounds of calls in one wait, each call once", async () => {
    const result = await client.run({ agent: inline, messages: "3 calls, 4 rounds", tools: [double] });
    expect(result).toMatchObject({ status: "completed", answer: "0,2,4" });
    expect(new Set(result.ran.map(({ id }) => id)).size).toBe(12);
  });

  it.each([3, 10])("shares a session with a second one: %i calls settle once each", async (calls) => {
    const second = createReferenceClient(stack.baseUrl, apiKey);
    const sessionId = await client.create({ agent: inline, messages: `${calls} calls`, tools: [double] });
    const sayWho = (who: string): ReferenceTool => ({ ...double, run: ({ number }) => `${who}${number}` });
    const [one, two] = await Promise.all([
      client.wait(sessionId, {
        tools: [sayWho("a")],
        posting: (results) => results.map((result) => [result]),
      }),
      second.wait(sessionId, { tools: [sayWho("b")], posting: inTwoBatches }),
    ]);
    expect(two.answer).toBe(one.answer);
    expect(two.events).toEqual(one.events);
    expect(one.status).toBe("completed");
    const told = String(one.answer).split(",");
    expect(told.map((result) => Number(result.slice(1)))).toEqual(Array.from({ length: calls }, (_, n) => n));
    const kept = eventsOf(one, "tool_result").map(({ data }) => data.result);
    expect([...kept].sort()).toEqual([...told].sort());
    expect([...one.posts, ...two.posts].filter((status) => status !== 202 && status !== 409)).toEqual([]);
  });

  it("shares a session with a second one that finds the same results", async () => {
    const sessionId = await client.create({ agent: inline, messages: "3 calls, 3 rounds", tools: [double] });
    const results = await Promise.all([0, 1].map(() => client.wait(sessionId, { tools: [double] })));
    expect(results.map(({ answer }) => answer)).toEqual(["0,2,4", "0,2,4"]);
    expect(eventsOf(results[0] as ReferenceOutcome, "tool_result")).toHaveLength(9);
  });

  it("joins a session that already waits for it", async () => {
    const sessionId = await client.create({
      agent: "tandem/assistant",
      messages: "3 calls",
      tools: [double],
    });
    await waitFor(() => isAwaiting(stack, sessionId), { what: "the session to wait for its caller" });
    const result = await client.wait(sessionId, { tools: [double] });
    expect(result).toMatchObject({ status: "completed", answer: "0,2,4" });
  });

  it("tells the model of a tool that throws, and of one that it does not have", async () => {
    const broken: ReferenceTool = {
      ...double,
      run: () => {
        throw new Error("The disk is full.");
      },
    };
    const sessionId = await client.create({ agent: inline, messages: "3 calls", tools: [broken] });
    const result = await client.wait(sessionId, { tools: [broken] });
    expect(result).toMatchObject({
      status: "completed",
      answer: expect.stringContaining("The disk is full."),
    });
    expect(eventsOf(result, "error_event").map(({ data }) => data.origin)).toEqual([
      "client",
      "client",
      "client",
    ]);
    const missing = await client.create({ agent: inline, messages: "1 call", tools: [double] });
    expect((await client.wait(missing, { tools: [] })).answer).toContain("Unknown tool: double");
  });

  it.each<{ agent: string | typeof inline; what: string }>([
    { agent: "tandem/assistant", what: "a named agent, by an override" },
    { agent: inline, what: "an inline agent, in its definition" },
  ])("gets a structured answer from $what", async ({ agent }) => {
    const messages = "3 calls";
    const result = await client.run({ agent, messages, tools: [double], answerFormat: cityFormat });
    expect(result).toMatchObject({ status: "completed", answer: { city: "Paris", degrees: 18 } });
  });

  it("goes on with a finished session by a message, and sees the whole history from index 0", async () => {
    const first = await client.run({ agent: inline, messages: "1 call", tools: [double] });
    await client.send(first.id, "3 calls");
    const again = await client.wait(first.id, { tools: [double] });
    expect(again).toMatchObject({ status: "completed", answer: "0,2,4" });
    expect(again.events.slice(0, first.events.length)).toEqual(first.events);
  });

  it("takes a 409 for results that come after the end as the end", async () => {
    const sessionId = await client.create({ agent: inline, messages: "1 call", tools: [double] });
    const cancelling: ReferenceTool = { ...double, run: () => cancel(stack, sessionId) };
    const result = await client.wait(sessionId, { tools: [cancelling] });
    expect(result).toMatchObject({ status: "interrupted", posts: [409], answer: null });
  });

  it("gets the state of a finished session without its events", async () => {
    const { id } = await client.run({ agent: inline, messages: "Hello." });
    const result = await client.wait(id, { withEvents: false });
    expect(result).toMatchObject({ status: "completed", answer: "Nothing to do.", events: [] });
  });
});

const headers = { authorization: `Bearer ${apiKey}` };

async function isAwaiting(stack: TestStack, sessionId: string): Promise<boolean> {
  const response = await fetch(`${stack.baseUrl}/api/v2/sessions/${sessionId}/status`, { headers });
  return ((await response.json()) as { status: string }).status === "awaiting_tool_results";
}

async function cancel(stack: TestStack, sessionId: string): Promise<void> {
  await fetch(`${stack.baseUrl}/api/v2/sessions/${sessionId}`, { method: "DELETE", headers });
}

/** Everything from index 0, one event at a time: the cursor is simply the number received. */
async function readAll(
  stack: TestStack,
  { id }: ReferenceOutcome,
): Promise<{ cursor: number; seen: unknown[] }> {
  const seen: unknown[] = [];
  for (;;) {
    const query = `from_index=${seen.length}&limit=1`;
    const response = await fetch(`${stack.baseUrl}/api/v2/sessions/${id}/changes?${query}`, { headers });
    if (response.status === 204) return { cursor: seen.length, seen };
    seen.push(...((await response.json()) as { new_events: unknown[] }).new_events);
  }
}
