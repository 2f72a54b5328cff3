// Whatever was told of a step's text while it ran, and however late its client came: when the step has ended, the
// client has all of it, once.
import { createEventStream } from "@tandem/api/streaming/event-stream";
import { createRunningTexts } from "@tandem/api/streaming/running-texts";
import { sendText } from "@tandem/api/streaming/send-text";
import { toTextNotes } from "@tandem/engine/wake/stream-notes";
import fc from "fast-check";
import { expect, it } from "vitest";
import { waitFor } from "../support/wait-for.ts";

interface Delta {
  step: number;
  offset: number;
  text: string;
}

/** A client that takes what it is sent, of a session whose steps run as a test says. */
function openClient() {
  const hearers = new Set<(text: string) => void>();
  const texts = createRunningTexts({
    tell: () => undefined,
    onReopen: () => () => undefined,
    hear(listener) {
      hearers.add(listener);
      return () => hearers.delete(listener);
    },
  });
  const stream = createEventStream({ slowMs: 60_000, onSlow: () => undefined });
  let taken = "";
  stream.body.setEncoding("utf8").on("data", (chunk: string) => {
    taken += chunk;
  });
  const sessionId = crypto.randomUUID();
  const sender = sendText(stream, texts, sessionId);
  const say = (text: string, { step = 1, fence = 1 } = {}) => {
    for (const note of toTextNotes({ sessionId, step, fence, offset: 0, text }))
      for (const hear of hearers) hear(note);
  };
  return {
    sender,
    say,
    /** A step tells a text, and has said another when it ends. */
    async runStep(step: number, { told, said }: { told: string; said: string }) {
      sender.knowSteps(step - 1);
      say(told, { step, fence: step });
      sender.hold();
      await sender.complete(step, said);
    },
    /** All that it was sent, in order. */
    async close(): Promise<Delta[]> {
      stream.end();
      await waitFor(() => stream.body.readableEnded, { what: "the end" });
      sender.stop();
      texts.close();
      const frames = taken.split("\n\n").slice(0, -1);
      return frames.map((frame) => JSON.parse(frame.replace("event: delta\ndata: ", "")));
    },
  };
}

/** The text of each step, each piece where the one before ended. */
function toTexts(deltas: readonly Delta[]): Record<number, string> {
  const texts: Record<number, string> = {};
  for (const { step, offset, text } of deltas) {
    const before = offset === 0 ? "" : (texts[step] ?? "");
    expect(offset).toBe(before.length);
    texts[step] = before + text;
  }
  return texts;
}

it("a client that was told nothing gets all of it, in pieces that part no pair", async () => {
  const said = "a🦀".repeat(100_000);
  const client = openClient();
  await client.sender.complete(1, "Short.");
  await client.sender.complete(2, said);
  await client.sender.complete(3, "");
  const deltas = await client.close();
  expect(toTexts(deltas)).toEqual({ 1: "Short.", 2: said });
  expect(deltas.length).toBeGreaterThan(3);
  for (const { text } of deltas) expect(text.isWellFormed()).toBe(true);
});

it("a client that was told all of it, or a part, gets the rest", async () => {
  const client = openClient();
  await client.runStep(1, { told: "One two", said: "One two" });
  await client.runStep(2, { told: "Three", said: "Three four" });
  expect(await client.close()).toEqual([
    { type: "delta", step: 1, offset: 0, text: "One two" },
    { type: "delta", step: 2, offset: 0, text: "Three" },
    { type: "delta", step: 2, offset: 5, text: " four" },
  ]);
});

it("what was told of a request that failed is void, also when the next one says nothing", async () => {
  const client = openClient();
  await client.runStep(1, { told: "Wrong", said: "Right" });
  await client.runStep(2, { told: "Wrong", said: "" });
  const deltas = await client.close();
  expect(toTexts(deltas)).toEqual({ 1: "Right", 2: "" });
  expect(deltas).toHaveLength(4);
});

it("another client's steps that ended first take nothing away", async () => {
  const client = openClient();
  client.sender.knowSteps(0);
  client.say("One");
  client.sender.hold();
  // As another client of the session in this process does, whose events are ahead.
  client.sender.knowSteps(1);
  client.sender.hold();
  await client.sender.complete(1, "One two");
  expect(toTexts(await client.close())).toEqual({ 1: "One two" });
});

it("whatever was told of each request, what comes makes what was said", async () => {
  const text = fc.string({ unit: "grapheme", maxLength: 12 });
  const request = fc.record({ told: text, isTold: fc.boolean() });
  const steps = fc.array(fc.record({ said: text, requests: fc.array(request, { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const client = openClient();
      let fence = 0;
      for (const [i, { said, requests }] of all.entries()) {
        client.sender.knowSteps(i);
        for (const { told, isTold } of requests)
          client.say(isTold ? told : said.slice(0, told.length), { step: i + 1, fence: ++fence });
        client.sender.hold();
        await client.sender.complete(i + 1, said);
      }
      const texts = toTexts(await client.close());
      expect(all.map((_, i) => texts[i + 1] ?? "")).toEqual(all.map(({ said }) => said));
    }),
  );
});
