// A stream's body holds little for a client that takes nothing, whatever there is to tell.

import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createEventStream } from "@tandem/api/streaming/event-stream";
import { followSession } from "@tandem/api/streaming/follow-session";
import { splitList, toEventFrame, toNamedFrame } from "@tandem/api/streaming/frames";
import { createRunningTexts } from "@tandem/api/streaming/running-texts";
import { createWaiters } from "@tandem/api/waiting/waiters";
import type { Engine } from "@tandem/engine/engine";
import type { ChangesRow } from "@tandem/engine/postgres/read-changes";
import { toTextNotes } from "@tandem/engine/wake/stream-notes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGate } from "../support/gate.ts";
import { waitFor } from "../support/wait-for.ts";

const open = (slowMs = 60_000) => {
  let isSlow = false;
  const stream = createEventStream({
    slowMs,
    onSlow: () => {
      isSlow = true;
    },
  });
  return { stream, isSlow: () => isSlow };
};

describe("a body", () => {
  it("has no room once enough is held, and has some again when that is taken", async () => {
    const { stream, isSlow } = open();
    while (stream.hasRoom) stream.write("x".repeat(1_000));
    expect(stream.body.readableLength).toBeLessThan(70_000);
    const order: string[] = [];
    const room = stream.room().then(() => order.push("room"));
    order.push("full");
    let taken = 0;
    stream.body.on("data", (chunk: Buffer) => {
      taken += chunk.length;
    });
    await room;
    expect(order).toEqual(["full", "room"]);
    stream.write("last");
    stream.end();
    await waitFor(() => stream.body.readableEnded, { what: "the end" });
    expect([taken % 1_000, isSlow(), stream.isOver]).toEqual([4, false, true]);
  });

  it("tells of a client that takes nothing for too long, also when it has ended", async () => {
    for (const isEnded of [false, true]) {
      const { stream, isSlow } = open(20);
      while (stream.hasRoom) stream.write("x".repeat(1_000));
      if (isEnded) stream.end();
      await waitFor(isSlow, { what: "the slow client" });
      stream.abort();
    }
  });

  it("lets nobody wait for room, and takes nothing, once it is over", async () => {
    const { stream } = open();
    while (stream.hasRoom) stream.write("x".repeat(1_000));
    const room = stream.room();
    stream.abort();
    await room;
    stream.write("more");
    stream.end();
    expect(stream.isOver).toBe(true);
  });
});

describe("frames", () => {
  it("hold each item of a list as its text is, on one line", () => {
    const item = fc.json().map((text) => (text.length % 2 === 0 ? text : ` ${text}\n`));
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (items) => {
        expect([...splitList(items.join(","))]).toEqual(items);
        for (const text of items) {
          const [id, data, ...rest] = toEventFrame(3, text).split("\n");
          expect([id, rest]).toEqual(["id: 3", ["", ""]]);
          expect(JSON.parse(data?.slice("data: ".length) ?? "")).toEqual(JSON.parse(text));
        }
      }),
    );
    expect([...splitList("")]).toEqual([]);
    expect(toNamedFrame("delta", '{"a":\r\n1}')).toBe('event: delta\ndata: {"a": 1}\n\n');
  });
});

/** A client of a session that a test makes up: its rows, and what is told of its text. */
function follow(read: (cursor: number) => Promise<ChangesRow>) {
  const hearers = new Set<(text: string) => void>();
  const wakers = new Set<(sessionId: string) => void>();
  const wake = {
    ...{ onReopen: () => () => undefined, tell: () => undefined },
    subscribe(listener: (sessionId: string) => void) {
      wakers.add(listener);
      return () => wakers.delete(listener);
    },
    hear(listener: (text: string) => void) {
      hearers.add(listener);
      return () => hearers.delete(listener);
    },
  };
  const waiters = createWaiters({ wake } as unknown as Engine, { sweepMs: 3_600_000 });
  const texts = createRunningTexts(wake);
  const { stream } = open();
  const response = Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse;
  const sessionId = crypto.randomUUID();
  const following = followSession({
    ...{ stream, waiters, sessionId, fromIndex: 4, read, countSteps: async () => 0 },
    ...{ texts, timeLeftMs: () => Number.POSITIVE_INFINITY, response },
  });
  return {
    stream,
    waiters,
    following,
    say(text: string, offset = 0) {
      for (const note of toTextNotes({ sessionId, step: 1, fence: 1, offset, text }))
        for (const hear of hearers) hear(note);
    },
    wakeUp: () => {
      for (const waken of wakers) waken(sessionId);
    },
    async end() {
      waiters.shutdown();
      expect(await following).toBe("shutdown");
      texts.close();
      expect(hearers.size).toBe(0);
    },
  };
}

const toRow = (more: Partial<ChangesRow> = {}): ChangesRow => ({
  ...{ status: "running", startedAt: null, finishedAt: null, error: null, errorCode: null, outcome: null },
  ...{ reason: null, steps: 0, usage: "[]", answer: null, nextIndex: 4, events: null, eventCount: 0 },
  ...more,
});

/** All that the client has taken so far. */
function take(stream: ReturnType<typeof createEventStream>) {
  let taken = "";
  stream.body.setEncoding("utf8").on("data", (chunk: string) => {
    taken += chunk;
  });
  return () => taken;
}

it("a client that is slow has text wait for it where it is once for all, and gets it without a gap", async () => {
  const { stream, waiters, say, end } = follow(async () => toRow());
  await waitFor(() => waiters.size === 1, { what: "the wait" });
  const text = "🦀 and so on. ".repeat(200_000);
  say(text);
  await new Promise((resolve) => setImmediate(resolve));
  expect(stream.body.readableLength).toBeLessThan(400_000);

  const taken = take(stream);
  const toText = () =>
    taken()
      .split("\n")
      .flatMap((line) => (line.startsWith('data: {"type":"delta"') ? [JSON.parse(line.slice(6))] : []))
      .reduce((sum, delta) => (delta.offset === sum.length ? sum + delta.text : "a gap"), "");
  await waitFor(() => taken().length > text.length && toText() === text, { what: "all of the text" });
  await end();
});

it("text that is told while its step's events are on their way comes once, and before them", async () => {
  const SAID = '{"n":4,"type":"AgentEvent","data":{"kind":"policy_event","content":"Early. Late."}}';
  const gate = createGate();
  const pages = [
    toRow(),
    toRow(),
    toRow({ steps: 1, nextIndex: 6, events: SAID, eventCount: 1 }),
    toRow({ steps: 1, nextIndex: 6, events: '{"n":5}', eventCount: 1 }),
  ];
  let reads = 0;
  const { stream, waiters, say, wakeUp, end } = follow(async () => {
    const page = pages[Math.min(reads++, 3)] as ChangesRow;
    if (reads === 4) await gate.opened;
    return reads > 4 ? toRow({ steps: 1, nextIndex: 6 }) : page;
  });
  const taken = take(stream);
  await waitFor(() => waiters.size === 1 && reads === 2, { what: "the wait" });
  say("Early. ");
  wakeUp();
  await waitFor(() => reads === 4, { what: "the second page" });
  say("Late.", "Early. ".length);
  gate.open();
  await waitFor(() => waiters.size === 1 && reads === 5, { what: "the next wait" });
  const kinds = taken()
    .split("\n\n")
    .map((frame) => /"n":\d|"text":"[^"]*"|"steps":\d/.exec(frame)?.[0] ?? "");
  expect(kinds).toEqual([
    '"steps":0',
    '"text":"Early. "',
    '"text":"Late."',
    '"n":4',
    '"n":5',
    '"steps":1',
    "",
  ]);
  await end();
});

it("events that were sent are not kept while a stream waits for more", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const given: WeakRef<ChangesRow>[] = [];
  const give = (row: ChangesRow) => {
    given.push(new WeakRef(row));
    return row;
  };
  const { stream, waiters, end } = follow(async (cursor) =>
    cursor < 6
      ? give(toRow({ nextIndex: 6, events: `{"n":${cursor}}`, eventCount: 1 }))
      : toRow({ nextIndex: 6 }),
  );
  const taken = take(stream);
  await waitFor(() => waiters.size === 1 && taken().includes("state"), { what: "the wait" });
  expect(given).toHaveLength(2);
  const isForgotten = () => {
    collectGarbage();
    return given.every((row) => row.deref() === undefined);
  };
  await waitFor(isForgotten, { what: "the memory" });
  await end();
});

it("a stream whose events were removed meanwhile ends with the state", async () => {
  let reads = 0;
  const { stream, following, waiters } = follow(async (cursor) => {
    reads++;
    if (cursor === 4) return toRow({ nextIndex: 9, events: '{"n":4}', eventCount: 1 });
    // What asks for ever must not take the whole process with it.
    if (reads > 100) throw new Error("The events are asked for again and again");
    return toRow({ status: "completed", nextIndex: 9 });
  });
  const taken = take(stream);
  expect(await following).toBe("finished");
  await waitFor(() => taken().includes("event: state"), { what: "the state" });
  expect(taken()).toContain('"has_more":false');
  waiters.shutdown();
});
