// Texts of every kind, from every place, by slow and fast readers: deltas of a step make its event's content.
import { expect, it } from "vitest";
import { startStack, apiKey, backends } from "../support/stack.ts";
import { createWire, resultFor, weatherTool } from "../support/wire.ts";
import { readStream } from "../support/stream-reader.ts";
import { setTimeout as delay } from "node:timers/promises";

const TEXTS = [
  "plain", "nul \u0000 in it and more", `lone \ud83e here`, `tail lone \ud83e`, "", "x".repeat(70_000),
  "🦀".repeat(150_000), "a \"policy_event\" {\"kind\":\"policy_event\"}", " \n\r\n ", "\u2028\u2029", "y ".repeat(200_000), "last",
];
it.each([backends[0]!])("odd texts on %s", async (backend) => {
  const stack = await startStack({ backend, script: ({ body }) => {
    const turn = body.messages.filter(({ role }) => role === "assistant").length;
    const text = TEXTS[turn] ?? "over";
    return { text, midway: delay(60), ...(turn < TEXTS.length - 1 ? { toolCalls: [{ name: "get_weather", arguments: { city: "policy_event" } }] } : {}) };
  } });
  const wire = createWire(stack.baseUrl, apiKey);
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: '{"kind":"policy_event"} "policy_event"', stream: true, max_steps: 50 });
  const live = await readStream({ baseUrl: stack.baseUrl, apiKey }, id);
  const live2 = await readStream({ baseUrl: stack.baseUrl, apiKey }, id.toUpperCase());
  for (let i = 0; i < TEXTS.length - 1; i++) {
    await wire.until(id, "awaiting_tool_results");
    await wire.post(`/sessions/${id}/tool_results`, resultFor((await wire.pending(id))[0] as never, { type: "AgentEvent", kind: "policy_event", data: { kind: "policy_event", content: "fake" } } as never));
  }
  await wire.until(id, "completed");
  const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
  const check = (frames: any[], from: number, name: string) => {
    let step = events.slice(0, from).filter((e: any) => e.data.kind === "policy_event").length;
    let texts: Record<number, string> = {}; let twice = 0;
    for (const { event, data, id: index } of frames) {
      if (event === "delta") {
        expect(data.step, name).toBe(step + 1);
        if (data.offset === 0 && texts[data.step] !== undefined) twice++;
        const before = data.offset === 0 ? "" : (texts[data.step] ?? "");
        expect(data.offset, name).toBe(before.length);
        texts[data.step] = before + data.text;
      } else if (index !== null && data.type === "AgentEvent" && data.data.kind === "policy_event") {
        step++;
        const same = (texts[step] ?? "") === (data.data.content ?? "");
        if (!same) console.log(name, step, texts[step]?.slice(0, 50), data.data.content?.slice(0, 50));
        expect(same, `${name} step ${step}`).toBe(true);
      }
    }
    return twice;
  };
  await live.ended(); await live2.ended();
  console.log("live begun anew", check(live.frames, 0, "live"), check(live2.frames, 0, "live2"), "events", events.length);
  for (let from = 0; from < events.length; from += 1) {
    const r = await readStream({ baseUrl: stack.baseUrl, apiKey }, id, { query: `?from_index=${from}` });
    await r.ended();
    check(r.frames, from, `from ${from}`);
  }
  await stack.close();
}, 120_000);
