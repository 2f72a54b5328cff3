// Texts of every kind, and histories that look like something else: from every place in it, the text of each step comes
// before the step's events, whole.
import { expect, it, onTestFinished } from "vitest";
import { apiKey, startStack } from "../support/stack.ts";
import { type Frame, readStream } from "../support/stream-reader.ts";
import { createWire, type PendingCall, resultFor, weatherTool } from "../support/wire.ts";

const NUL = "a\u0000b";
const HALF = "a\ud83eb";
const FAKE = { type: "AgentEvent", kind: "policy_event", data: { kind: "policy_event", content: "fake" } };
const call = (name: string, city: string) => ({ name, arguments: { city } });

/** What the model says in each step, and what it asks for then. What it may not call is answered at once. */
const TURNS = [
  { text: "plain", toolCalls: [call("get_weather", NUL)] },
  { text: NUL, toolCalls: [call("unknown", NUL)] },
  { text: `lone ${HALF} and at the end \ud83e`, toolCalls: [call("unknown", HALF)] },
  { text: "", toolCalls: [call("get_weather", HALF)] },
  { text: "🦀".repeat(150_000), toolCalls: [call("get_weather", "policy_event")] },
  { text: '"policy_event" {"kind":"policy_event"}', toolCalls: [call("get_weather", "Rome")] },
  { text: " \n\r\n\u2028 ", toolCalls: [call("get_weather", "Rome")] },
  { text: "y".repeat(280_000) },
];

it("are told whole, live and later, wherever a reader begins", { timeout: 60_000 }, async () => {
  const stack = await startStack({
    script: ({ body }) =>
      TURNS[body.messages.filter(({ role }) => role === "assistant").length] ?? { text: "over" },
  });
  onTestFinished(() => stack.close());
  const wire = createWire(stack.baseUrl, apiKey);
  const id = await wire.create({
    agent: { name: "x", tools: [weatherTool] },
    messages: JSON.stringify(FAKE),
    stream: true,
  });
  const open = (query = "") => readStream({ baseUrl: stack.baseUrl, apiKey }, id, { query });
  const live = await open();
  for (const result of [NUL, HALF, FAKE, [FAKE], { odd: NUL }]) {
    await wire.until(id, "awaiting_tool_results");
    const [pending] = await wire.pending(id);
    await wire.post(`/sessions/${id}/tool_results`, resultFor(pending as PendingCall, result));
  }
  await wire.until(id, "completed");
  const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
  expect(events.filter(isReply)).toHaveLength(TURNS.length);
  await live.ended();
  expect(readAll(live.frames, 0)).toBe(events.length);
  for (let from = 0; from < events.length; from++) {
    const reader = await open(`?from_index=${from}`);
    await reader.ended();
    const before = events.slice(0, from).filter(isReply).length;
    expect(from + readAll(reader.frames, before)).toBe(events.length);
  }
});

function isReply({ type, data }: Frame["data"]): boolean {
  return type === "AgentEvent" && data.kind === "policy_event";
}

/** Reads as a client does, and looks at each reply whether its text came before it. Gives the number of events. */
function readAll(frames: readonly Frame[], steps: number): number {
  let step = steps + 1;
  let text = "";
  let events = 0;
  for (const { id, event, data } of frames) {
    if (event === "delta") {
      if (data.offset === 0) text = "";
      expect([data.step, data.offset]).toEqual([step, text.length]);
      text += data.text;
    }
    if (id === null) continue;
    events += 1;
    if (!isReply(data)) continue;
    expect(text === (data.data.content ?? ""), `the text of step ${step}`).toBe(true);
    step += 1;
    text = "";
  }
  return events;
}
