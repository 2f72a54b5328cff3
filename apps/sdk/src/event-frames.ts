// Server-sent events: from the bytes of a reply to frames. https://html.spec.whatwg.org/multipage/server-sent-events.html
import { untilAborted } from "./abort-scope.ts";

/** One event as it came. */
export interface EventFrame {
  /** Null where the frame has none. */
  id: string | null;
  event: string;
  data: string;
}

/** Cuts text into frames. Pieces may end anywhere, within a line break too. */
export class FrameParser {
  #line = "";
  #endedWithCr = false;
  #frame: EventFrame = { id: null, event: "message", data: "" };
  #dataLines: string[] = [];

  /** The frames that this piece completes. */
  push(piece: string): EventFrame[] {
    const text = this.#endedWithCr && piece.startsWith("\n") ? piece.slice(1) : piece;
    if (piece !== "") this.#endedWithCr = piece.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    const frames: EventFrame[] = [];
    lines.forEach((part, index) => {
      this.#line += part;
      if (index === lines.length - 1) return;
      const frame = this.#take(this.#line);
      if (frame) frames.push(frame);
      this.#line = "";
    });
    return frames;
  }

  /** Takes a whole line; an empty one ends a frame, and a frame without data is none. */
  #take(line: string): EventFrame | null {
    if (line === "") {
      const frame = { ...this.#frame, data: this.#dataLines.join("\n") };
      const hasData = this.#dataLines.length > 0;
      this.#frame = { id: null, event: "message", data: "" };
      this.#dataLines = [];
      return hasData ? frame : null;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") this.#dataLines.push(value);
    else if (name === "event" || name === "id") this.#frame[name] = value;
    return null;
  }
}

/**
 * The frames of a body, as they come; null for each piece of the body, whatever it holds, so that a reader sees that the
 * line is alive. Ends with the body, or throws the reason of the signal.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<EventFrame | null, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new FrameParser();
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return;
      yield null;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
