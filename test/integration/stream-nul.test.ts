// A history that is joined in the middle is told however odd the characters are that stand before a reply.
import { expect, it } from "vitest";
import { startStack, apiKey } from "../support/stack.ts";
import { createWire, resultFor, weatherTool } from "../support/wire.ts";
import { readStream } from "../support/stream-reader.ts";

it.each([["NUL", "x\u0000y"], ["half a pair", "x\ud83ey"]])("resumes behind calls and results with %s", async (_, odd) => {
  const stack = await startStack({ script: ({ body }) => {
    const turn = body.messages.filter(({ role }) => role === "assistant").length;
    if (turn === 0) return { text: "One.", toolCalls: [{ name: "nope", arguments: { a: odd } }] };
    if (turn === 1) return { text: "Two.", toolCalls: [{ name: "get_weather", arguments: { city: odd } }] };
    return { text: "Three." };
  } });
  try {
    const wire = createWire(stack.baseUrl, apiKey);
    const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "hi", stream: true, max_steps: 50 });
    await wire.until(id, "awaiting_tool_results");
    await wire.post(`/sessions/${id}/tool_results`, resultFor((await wire.pending(id))[0] as never, { odd } as never));
    await wire.until(id, "completed");
    const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
    console.log(events.map((e: any, i: number) => `${i} ${e.type} ${e.data.kind ?? ""}`).join("\n"));
    const broken: number[] = [];
    for (let from = 0; from < events.length; from += 1) {
      const r = await readStream({ baseUrl: stack.baseUrl, apiKey }, id, { query: `?from_index=${from}` });
      await r.ended();
      if (r.frames.filter(({ id }) => id !== null).length !== events.length - from) broken.push(from);
    }
    expect(broken).toEqual([]);
  } finally { await stack.close(); }
}, 60_000);
