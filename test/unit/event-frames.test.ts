// Server-sent events as they come over a line that cuts them anywhere.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EventFrame, FrameParser, readFrames } from "../../apps/sdk/src/event-frames.ts";

const parse = (...pieces: string[]): EventFrame[] => {
  const parser = new FrameParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

/** The frames of a body that comes in these pieces. */
async function read(pieces: Uint8Array[]): Promise<EventFrame[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const frames: EventFrame[] = [];
  for await (const frame of readFrames(body, new AbortController().signal)) if (frame) frames.push(frame);
  return frames;
}

describe("a frame", () => {
  it("has an id, a kind and data, each where it is given", () => {
    expect(parse('id: 7\nevent: delta\ndata: {"a":1}\n\n')).toEqual([
      { id: "7", event: "delta", data: '{"a":1}' },
    ]);
    expect(parse("data: x\n\n")).toEqual([{ id: null, event: "message", data: "x" }]);
  });

  it("takes nothing from the frame before it", () => {
    expect(parse("id: 1\nevent: state\ndata: a\n\ndata: b\n\n").at(-1)).toEqual({
      id: null,
      event: "message",
      data: "b",
    });
  });

  it("joins several lines of data", () => {
    expect(parse("data: a\ndata:b\ndata\ndata:  c\n\n")).toMatchObject([{ data: "a\nb\n\n c" }]);
  });

  it("is none without data, and comments and unknown fields are no part of one", () => {
    expect(parse(": beat\n\nid: 4\n\n:\nretry: 5\ndata: a\nfoo: b\n\n")).toEqual([
      { id: null, event: "message", data: "a" },
    ]);
  });

  it("ends with its empty line, not with the stream", () => {
    expect(parse("data: a\n")).toEqual([]);
    expect(parse("data: a\n", "\n")).toHaveLength(1);
  });

  it.each(["\n", "\r", "\r\n"])("may have lines that end with %j", (end) => {
    expect(parse(["id: 1", "data: a", "", "data: b", "", ""].join(end))).toMatchObject([
      { id: "1", data: "a" },
      { id: null, data: "b" },
    ]);
  });

  it("does not wait for the rest of a line break that is whole without it", () => {
    const parser = new FrameParser();
    expect(parser.push("data: a\r\r")).toHaveLength(1);
    expect(parser.push("\ndata: b\r\n\r\n")).toMatchObject([{ data: "b" }]);
  });

  it("is the same wherever the line cuts it, within characters too", async () => {
    const texts = fc.array(
      fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
      { maxLength: 5 },
    );
    const ends = fc.constantFrom("\n", "\r", "\r\n");
    await fc.assert(
      fc.asyncProperty(texts, ends, fc.array(fc.nat(400), { maxLength: 12 }), async (data, end, cuts) => {
        const lines = data.flatMap((text, index) => [`id: ${index}`, `data: ${text}`, ": beat", ""]);
        const bytes = new TextEncoder().encode([...lines, ""].join(end));
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
        const frames = await read(pieces);
        expect(frames.map((frame) => frame.data)).toEqual(
          data.map((text) => new TextDecoder().decode(new TextEncoder().encode(text))),
        );
      }),
      { numRuns: 200 },
    );
  });
});
