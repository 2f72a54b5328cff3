import {
  readStreamNote,
  type TextNote,
  toCut,
  toTextNotes,
  toWatchNote,
} from "@tandem/engine/wake/stream-notes";
import { createWake, MAX_TOLD_BYTES } from "@tandem/engine/wake/wake";
import fc from "fast-check";
import pino from "pino";
import { describe, expect, it } from "vitest";
import { waitFor } from "../support/wait-for.ts";

const source = { sessionId: crypto.randomUUID(), step: 3, fence: 12, offset: 7 };
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\ud83d", "\ude00", "🦀", ",", "\u0000", "\u2028", '"\\', "~!."),
    ),
  )
  .map((parts) => parts.join("").repeat(40));

describe("notes of a text", () => {
  it("hold it to the last unit, in order, whatever it is", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const notes = toTextNotes({ ...source, text }).map((note) => readStreamNote(note) as TextNote);
        expect(notes.map((note) => note.text).join("")).toBe(text);
        let offset = source.offset;
        for (const note of notes) {
          expect(note).toMatchObject({
            kind: "text",
            sessionId: source.sessionId,
            step: 3,
            fence: 12,
            offset,
          });
          offset += note.text.length;
        }
      }),
    );
  });

  it("are small enough, hold no comma, and part no pair of surrogates", () => {
    for (const unit of ["\u0001", ",", "🦀", "x🦀", "é"]) {
      const notes = toTextNotes({ ...source, text: unit.repeat(5_000) });
      for (const note of notes) {
        expect(Buffer.byteLength(note)).toBeLessThan(MAX_TOLD_BYTES);
        expect(note).not.toContain(",");
        expect((readStreamNote(note) as TextNote).text.isWellFormed()).toBe(true);
      }
    }
  });

  it("are one of nothing, and cuts are where no pair is parted", () => {
    expect(toTextNotes({ ...source, text: "" }).map(readStreamNote)).toMatchObject([{ text: "", offset: 7 }]);
    expect(toCut("🦀", 1)).toBe(0);
    expect(toCut("\ud83dx", 1)).toBe(1);
  });
});

it("a watch is read as it was written, and other notes are nobody's", () => {
  const watch = { sessionId: source.sessionId, fence: 2, length: 400 };
  expect(readStreamNote(toWatchNote(watch))).toEqual({ kind: "watch", ...watch });
  for (const other of ["", "offer.a.b.1", "watch.a.b.c", "text.a.1.1.1.x"])
    expect(readStreamNote(other)).toBe(null);
});

/** Two processes whose messages travel when the test says so. */
function createPair() {
  const messages: string[] = [];
  const receivers: ((payload: string) => void)[] = [];
  let isOpen = true;
  let release: () => void = () => undefined;
  const connect = (onMessage: (payload: string) => void) => {
    receivers.push(onMessage);
    return {
      async send(payload: string) {
        if (!isOpen) await new Promise<void>((resolve) => (release = resolve));
        messages.push(payload);
        for (const receive of receivers) receive(payload);
      },
      ready: async () => undefined,
      close: async () => undefined,
    };
  };
  const open = () => createWake(connect, pino({ level: "silent" }));
  return {
    wakes: [open(), open()] as const,
    messages,
    cut: () => {
      isOpen = false;
    },
    mend: () => {
      isOpen = true;
      release();
    },
  };
}

describe("what is told", () => {
  it("is heard by this process at once and by others once, in order with wake-ups, and by no receiver of notes", async () => {
    const { wakes, messages } = createPair();
    const [here, there] = wakes;
    const heard: string[] = [];
    here.hear((text) => heard.push(`here ${text}`));
    there.hear((text) => heard.push(`there ${text}`));
    there.receive((note) => heard.push(`note ${note}`));
    there.subscribe((id) => heard.push(`woken ${id}`));
    here.tell("a");
    expect(heard).toEqual(["here a"]);
    here.publish("id");
    here.send("n");
    here.tell("b");
    await waitFor(() => heard.includes("there b"), { what: "all to be heard" });
    expect(heard).toEqual(["here a", "here b", "there a", "woken id", "note n", "there b"]);
    expect(messages).toHaveLength(1);
  });

  it("goes in messages below 8,000 bytes, each as full as it can be", async () => {
    const { wakes, messages } = createPair();
    const [here, there] = wakes;
    const heard: string[] = [];
    there.hear((text) => heard.push(text));
    const texts = Array.from({ length: 40 }, (_, i) => `${i}${"é".repeat(90 * (i + 1))}`);
    for (const text of texts) here.tell(text);
    await waitFor(() => heard.length === texts.length, { what: "all to be heard" });
    expect(heard).toEqual(texts);
    const sizes = messages.map((message) => Buffer.byteLength(message));
    expect(Math.max(...sizes)).toBeLessThan(8_000);
    expect(messages.length).toBeLessThan(texts.length);
  });

  it("is dropped while much of it waits to be sent, and wake-ups are not", async () => {
    const { wakes, cut, mend } = createPair();
    const [here, there] = wakes;
    const heard: string[] = [];
    const woken: string[] = [];
    there.hear((text) => heard.push(text));
    there.subscribe((id) => woken.push(id));
    cut();
    here.publish("first");
    await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 1_000; i++) here.tell(`${i}${"x".repeat(1_000)}`);
    here.publish("last");
    mend();
    await waitFor(() => woken.includes("last"), { what: "the wake-up" });
    expect(woken).toEqual(["first", "last"]);
    expect(heard.length).toBeGreaterThan(100);
    expect(heard.length).toBeLessThan(300);
  });
});
