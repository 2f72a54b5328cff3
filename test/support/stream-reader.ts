// Reads a session's stream as a client does, frame by frame.
import { setTimeout as delay } from "node:timers/promises";
import { waitFor } from "./wait-for.ts";

/** One server-sent event, or a comment. */
export interface Frame {
  id: string | null;
  event: string | null;
  /** Parsed when there is some. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape
  data: any;
  /** The data as it came. */
  text: string;
  isComment: boolean;
}

export interface StreamReader {
  status: number;
  headers: Headers;
  /** All frames so far. */
  frames: Frame[];
  /** True when the server has ended the stream, or the connection broke. */
  readonly isOver: boolean;
  /** Waits for the first frame that fits, of all that came or will come. */
  until(what: string, fits: (frame: Frame) => boolean): Promise<Frame>;
  /** Waits for the end. */
  ended(): Promise<void>;
  close(): void;
}

/** The session's events among frames, as `[index, event]`. */
export const eventsOf = (frames: readonly Frame[]) =>
  frames.filter(({ id }) => id !== null).map(({ id, data }) => [Number(id), data]);

/** The deltas among frames. */
export const deltasOf = (frames: readonly Frame[]) =>
  frames.filter(({ event }) => event === "delta").map(({ data }) => data);

/** The text that deltas make: what begins anew takes the place of what was. */
export function textOf(frames: readonly Frame[], step?: number): string {
  let text = "";
  for (const delta of deltasOf(frames)) {
    if (step !== undefined && delta.step !== step) continue;
    if (delta.offset === 0) text = "";
    if (delta.offset !== text.length)
      throw new Error(`a delta of ${delta.offset} after ${text.length} units`);
    text += delta.text;
  }
  return text;
}

/**
 * Opens a stream.
 *
 * @param query as `?from_index=2`
 */
export async function readStream(
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
  sessionId: string,
  { query = "", headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<StreamReader> {
  const controller = new AbortController();
  const response = await fetch(`${baseUrl}/api/v2/sessions/${sessionId}/stream${query}`, {
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    signal: controller.signal,
  });
  const frames: Frame[] = [];
  let isOver = false;
  const read = async () => {
    let rest = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = (rest + chunk).split("\n\n");
      rest = parts.pop() ?? "";
      frames.push(...parts.map(toFrame));
    }
    if (rest !== "") throw new Error(`The stream ended within a frame: ${rest}`);
  };
  const reading = read()
    .catch((error: unknown) => {
      if (!controller.signal.aborted) return error;
      return undefined;
    })
    .finally(() => {
      isOver = true;
    });
  return {
    status: response.status,
    headers: response.headers,
    frames,
    get isOver() {
      return isOver;
    },
    until: (what, fits) => waitFor(() => frames.find(fits), { what, timeoutMs: 20_000 }),
    async ended() {
      await Promise.race([
        reading,
        delay(20_000).then(() => Promise.reject(new Error("The stream does not end"))),
      ]);
    },
    close: () => controller.abort(),
  };
}

function toFrame(text: string): Frame {
  const lines = text.split("\n");
  const field = (name: string) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
  const data = field("data");
  return {
    id: field("id"),
    event: field("event"),
    data: data === null ? null : JSON.parse(data),
    text: data ?? "",
    isComment: lines.every((line) => line.startsWith(":")),
  };
}
