// `tandem tail`: a session's events, those that were and those that come.
import { setTimeout as delay } from "node:timers/promises";
import { APIError, ConnectionError, type SessionHandle, type SessionStatus } from "@tandem/sdk";
import { connect, type ServerOptions } from "../connect.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { createShow, type Show } from "../run/show.ts";
import { writeResult } from "../terminal/output.ts";
import { createPaint } from "../terminal/paint.ts";
import { createStatusLine } from "../terminal/status-line.ts";

/** The flags of `tandem tail`. */
export interface TailOptions extends ServerOptions {
  from: number;
  follow: boolean;
  json?: boolean;
  color?: boolean;
}

/** How long one poll waits, in seconds, and how long it is before the next one when the server is away, in ms. */
const POLL_S = 20;
const PAUSE_MS = 1_000;
/** After so many failed polls in a row the last failure is told. */
const MAX_FAILURES = 30;
/** Events of one reply, so that a long history is shown from its beginning at once. */
const PAGE = 500;

/** Shows events until the session has ended; without `follow` until the last one there is. */
export async function tail(id: string, options: TailOptions): Promise<ExitCode> {
  const session = (await connect(options)).session(id);
  const paint = createPaint(process.stdout, options);
  const lines = createStatusLine({ write: writeResult }, paint);
  const show = createShow({ isJson: options.json ?? false, paint, showsAnswer: true }, lines);
  // Says at once when there is no such session.
  let { status } = await session.status();
  const text =
    options.follow && !options.json && process.stdout.isTTY ? createTextReader(session, show) : null;
  for (let cursor = options.from; ; ) {
    const waits = options.follow && (text === null || status === "idle");
    const changes = await poll(session, { fromIndex: cursor, waits });
    for (const event of changes?.new_events ?? []) show.item(event);
    cursor = changes?.next_index ?? cursor;
    if (changes?.has_more) continue;
    status = (changes ?? (await session.status())).status;
    if (!options.follow || isEnded(status)) break;
    if (text && status !== "idle") cursor = await text.readTurn(cursor);
  }
  lines.close();
  return exitCodes.ok;
}

/**
 * Reads turns with the model's text. They come from their first event, so that what is before the cursor is passed
 * over: events, and text, which comes before the events of its step.
 */
function createTextReader(session: SessionHandle, show: Show) {
  let index = 0;
  return {
    readTurn: async (cursor: number): Promise<number> => {
      for await (const item of session.stream({ onPermissionRequest: "elsewhere" })) {
        if (index >= cursor) show.item(item);
        if (item.type !== "delta") index += 1;
      }
      return Math.max(cursor, index);
    },
  };
}

/** One poll; those that fail on the way are tried again. */
async function poll(session: SessionHandle, { fromIndex, waits }: { fromIndex: number; waits: boolean }) {
  for (let failures = 1; ; failures += 1) {
    try {
      return await session.changes({ fromIndex, limit: PAGE, waitForSeconds: waits ? POLL_S : 0 });
    } catch (error) {
      const passes = error instanceof ConnectionError || (error instanceof APIError && error.status >= 500);
      if (!passes || !waits || failures >= MAX_FAILURES) throw error;
      await delay(PAUSE_MS);
    }
  }
}

function isEnded(status: SessionStatus["status"]): boolean {
  return ["completed", "failed", "timed_out", "interrupted"].includes(status);
}
