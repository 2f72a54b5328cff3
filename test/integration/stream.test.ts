// The stream of a session carries what the long poll carries, and beside it text while it is made.
//
// The races that it must stand, each with its test here or in test/unit/running-texts.test.ts:
// - A change between the read and the wait: the wait is subscribed before the read, as a poll's is.
// - A step that begins while the note of a watcher travels, or that ended before somebody read: its text comes when it
// has
//   ended, before its events.
// - A watcher that comes in the middle of a request, at the same API process or another: it gets all of the text.
// - Notes that come twice, late, or not at all: offsets tell, and what is missing is asked for.
// - A worker that lost its claim and still talks: its claim's number is lower than the new one's.
// - A channel that breaks and opens again: watches are told anew.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelScript, oneToolThenAnswer } from "../support/fake-model-server.ts";
import { createGate } from "../support/gate.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { deltasOf, eventsOf, type Frame, readStream, textOf } from "../support/stream-reader.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const isState = (status: string) => (frame: Frame) => frame.event === "state" && frame.data.status === status;
const isDelta = (frame: Frame) => frame.event === "delta";

describe.each(backends)("the stream of a session on %s", (backend) => {
  let stack: TestStack;
  let wire: Wire;
  let script: ModelScript;

  beforeAll(async () => {
    // A sweep that never comes: what wakes a stream here is a wake-up.
    const env = { TANDEM_SWEEP_MS: "3600000" };
    stack = await startStack({ backend, env, script: (request, index) => script(request, index) });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack.close());

  const open = (id: string, options = {}, baseUrl = stack.baseUrl) =>
    readStream({ baseUrl, apiKey }, id, options);
  const create = (more: object = {}) => wire.create({ agent: { name: "x" }, messages: "Say it.", ...more });
  const askingForATool = async () => {
    script = oneToolThenAnswer("get_weather", { city: "Paris" });
    const id = await create({ agent: { name: "x", tools: [weatherTool] } });
    const seen = await wire.until(id, "awaiting_tool_results");
    return { id, cursor: seen.next_index as number, call: (await wire.pending(id))[0] as PendingCall };
  };

  it("has the events of changes with their indexes, a state when all were sent, and ends with the session", async () => {
    const { id, cursor, call } = await askingForATool();
    const stream = await open(id);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("cache-control")).toBe("no-store");
    expect(stream.headers.get("x-accel-buffering")).toBe("no");
    const state = await stream.until("the state", isState("awaiting_tool_results"));
    expect(state).toMatchObject({ id: null, data: { next_index: cursor, has_more: false, answer: null } });
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    await stream.ended();
    const { new_events: events, ...rest } = (await wire.get(`/sessions/${id}/changes`)).body;
    expect(eventsOf(stream.frames)).toEqual([...events.entries()]);
    expect(stream.frames.at(-1)).toMatchObject({ event: "state", data: rest });
    expect(Object.keys(stream.frames.at(-1)?.data).sort()).toEqual(Object.keys(rest).sort());
  });

  it("goes on behind Last-Event-ID, whichever it is, and has nothing for one who has seen all", async () => {
    const { id, call } = await askingForATool();
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    const { next_index: end } = await wire.until(id, "completed");
    const all = await open(id);
    await all.ended();
    for (let last = 0; last < end - 1; last++) {
      const stream = await open(id, { query: "?from_index=1", headers: { "last-event-id": `${last}` } });
      await stream.ended();
      expect(eventsOf(stream.frames)).toEqual(eventsOf(all.frames).slice(last + 1));
      expect(stream.frames.at(-1)?.data).toMatchObject({ status: "completed", next_index: end });
    }
    for (const options of [{ headers: { "last-event-id": `${end - 1}` } }, { query: `?from_index=${end}` }]) {
      const stream = await open(id, options);
      await stream.ended();
      expect([stream.status, stream.frames]).toEqual([204, []]);
    }
  });

  it("tells text before the model has said all of it, and the deltas make the answer", async () => {
    const gate = createGate();
    const text = "One, two, \u0000 “three” 🦀🦀 and\nfour.";
    script = () => ({ text, midway: gate.opened });
    const id = await create({ stream: true });
    const stream = await open(id);
    await stream.until("text", isDelta);
    await waitFor(() => textOf(stream.frames) === "One, two, \u0000 ", { what: "half of it" });
    gate.open();
    await stream.ended();
    expect(textOf(stream.frames)).toBe(text);
    expect(new Set(deltasOf(stream.frames).map(({ step }) => step))).toEqual(new Set([1]));
    expect(stream.frames.findLastIndex(isDelta)).toBeLessThan(
      stream.frames.findIndex(({ data }) => data?.data?.kind === "policy_event"),
    );
  });

  it("tells the text of a step that begins while somebody reads, without the setting", async () => {
    const { id, call } = await askingForATool();
    const gate = createGate();
    const before = stack.model.requests.length;
    script = () => ({ text: "It is sunny.", midway: gate.opened });
    const stream = await open(id);
    await stream.until("the state", isState("awaiting_tool_results"));
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, 18));
    await stream.until("text", isDelta);
    gate.open();
    await stream.ended();
    expect(textOf(stream.frames, 2)).toBe("It is sunny.");
    expect(stack.model.requests[before]?.body.stream).toBe(true);
  });

  it("asks for no stream when nobody reads", async () => {
    script = () => ({ text: "Alone." });
    const before = stack.model.requests.length;
    await wire.until(await create(), "completed");
    expect(stack.model.requests.slice(before).map(({ body }) => body.stream)).toEqual([undefined]);
  });

  it("gives one who comes late all of the text, at this process and at another", async () => {
    const gate = createGate();
    script = () => ({ text: "One two three four", midway: gate.opened });
    const id = await create({ stream: true });
    const first = await open(id);
    await waitFor(() => textOf(first.frames) === "One two ", { what: "half of it" });
    const other = await stack.addApi();
    const late = [await open(id), await open(id, {}, other.baseUrl)];
    for (const stream of late)
      await waitFor(() => textOf(stream.frames) === "One two ", { what: "what was said before" });
    gate.open();
    for (const stream of [first, ...late]) {
      await stream.ended();
      expect(textOf(stream.frames)).toBe("One two three four");
    }
  });

  it.each([true, false])(
    "tells the text of steps that ended before (stream: %s), from any place",
    async (stream) => {
      script = ({ body }) => {
        const turn = body.messages.filter(({ role }) => role === "assistant").length + 1;
        const call = { name: "get_weather", arguments: { city: "Rome" } };
        return { text: turn === 2 ? "" : `Turn ${turn}.`, ...(turn < 3 ? { toolCalls: [call] } : {}) };
      };
      const id = await create({ agent: { name: "x", tools: [weatherTool] }, stream });
      for (let turn = 0; turn < 2; turn++) {
        await wire.until(id, "awaiting_tool_results");
        await wire.post(
          `/sessions/${id}/tool_results`,
          resultFor((await wire.pending(id))[0] as PendingCall, 18),
        );
      }
      await wire.until(id, "completed");
      const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
      const places = events.flatMap(({ data }: Frame["data"], index: number) =>
        data.kind === "policy_event" ? [index] : [],
      );
      for (let from = 0; from < events.length; from++) {
        const reader = await open(id, { query: `?from_index=${from}` });
        await reader.ended();
        const told = reader.frames.flatMap(({ event, data }, place) =>
          event === "delta" ? [{ ...data, index: Number(reader.frames[place + 1]?.id) }] : [],
        );
        const all = [
          { type: "delta", step: 1, offset: 0, text: "Turn 1.", index: places[0] },
          { type: "delta", step: 3, offset: 0, text: "Turn 3.", index: places[2] },
        ];
        expect(told, `from ${from}`).toEqual(all.filter(({ index }) => index >= from));
      }
    },
  );

  it("begins anew when a request is made again, and takes nothing of a request that broke off", async () => {
    script = (_request, index) => {
      const isFirst = index === before;
      return isFirst ? { text: "Wrong all the way", insteadOfRest: "cut" } : { text: "Right." };
    };
    const before = stack.model.requests.length;
    const id = await create({ stream: true });
    const stream = await open(id);
    await stream.ended();
    expect(stream.frames.at(-1)?.data).toMatchObject({ status: "completed", answer: "Right." });
    expect(textOf(stream.frames)).toBe("Right.");
    const errors = eventsOf(stream.frames).filter(([, { data }]) => data.kind === "error_event");
    expect(errors).toHaveLength(1);
    expect(errors[0]?.[1].data.error).toContain("could not be reached");
  });

  it("stores nothing of the deltas", async () => {
    script = () => ({ text: "One two three four" });
    const id = await create({ stream: true });
    const stream = await open(id);
    await stream.ended();
    const plain = await create();
    await wire.until(plain, "completed");
    const kinds = async (sessionId: string) =>
      (await wire.get(`/sessions/${sessionId}/changes`)).body.new_events.map(
        ({ type, data }: { type: string; data: { kind?: string } }) => `${type} ${data.kind}`,
      );
    expect(await kinds(id)).toEqual(await kinds(plain));
  });
});
