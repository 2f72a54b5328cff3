// One client that follows a session: its events from the database, its state, and the text that comes meanwhile.

import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { TandemError } from "@tandem/engine/domain/errors";
import { isTerminal } from "@tandem/engine/domain/session-state";
import { isDatabaseUnavailable } from "@tandem/engine/postgres/pool";
import type { ChangesRow } from "@tandem/engine/postgres/read-changes";
import type { StreamEnd } from "@tandem/engine/telemetry/metrics";
import { toCut } from "@tandem/engine/wake/stream-notes";
import { toStateFields } from "../schemas/sessions.ts";
import { waitForNews } from "../waiting/wait-for-news.ts";
import type { Waiters } from "../waiting/waiters.ts";
import type { EventStream } from "./event-stream.ts";
import { splitList, toEventFrame, toNamedFrame } from "./frames.ts";
import type { RunningTexts } from "./running-texts.ts";

/** Whom it serves, and with what. */
export interface FollowOptions {
  stream: EventStream;
  waiters: Waiters;
  sessionId: string;
  fromIndex: number;
  /** Reads the next few events from a cursor on. */
  read: (cursor: number) => Promise<ChangesRow>;
  texts: RunningTexts;
  /** How long the client's credential lasts, in milliseconds. */
  timeLeftMs: () => number;
  response: ServerResponse;
}

/** How long to wait before reading again when the database is out of reach, in milliseconds. */
const READ_AGAIN_MS = 1_000;

/** Timers know no longer time, in milliseconds. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** How far a client has come. */
interface Place {
  cursor: number;
  /** True when there are events past the cursor. */
  isBehind: boolean;
}

/**
 * Sends until the session has ended, or the stream has. Text is only sent of the step that comes after the events that were
 * sent: what is told too early waits, and what comes too late is dropped.
 *
 * @throws {TandemError} `session_not_found` when the session was deleted meanwhile
 */
export async function followSession(options: FollowOptions): Promise<StreamEnd> {
  const text = sendText(options);
  let place: Place = { cursor: options.fromIndex, isBehind: true };
  try {
    for (;;) {
      const next = await sendNext(options, text, place);
      if (typeof next === "string") return next;
      place = next;
    }
  } finally {
    text.stop();
  }
}

/** What comes next. A function of its own, so that events which were sent are not kept while the stream waits for more. */
async function sendNext(
  options: FollowOptions,
  text: ReturnType<typeof sendText>,
  { cursor, isBehind }: Place,
): Promise<Place | StreamEnd> {
  const { stream, waiters } = options;
  const row = await patiently(stream, () => (isBehind ? options.read(cursor) : waitOn(options, cursor)));
  if (row === "nothing new") return waiters.isShutDown ? "shutdown" : "credential";
  if (row === "gone") return "gone";
  // What is told of a step while its events are on their way would come behind them.
  text.hold();
  await sendEvents(stream, row, cursor);
  if (stream.isOver) return "gone";
  const nextCursor = cursor + row.eventCount;
  // Events that are gone, as of an ephemeral session, will not come however often they are asked for.
  if (row.eventCount > 0 && nextCursor < row.nextIndex) return { cursor: nextCursor, isBehind: true };
  stream.write(toNamedFrame("state", `{${toStateFields(row, cursor)}}`));
  if (isTerminal(row.status)) return "finished";
  text.knowSteps(row.steps);
  return { cursor: nextCursor, isBehind: false };
}

function waitOn({ waiters, sessionId, read, response, timeLeftMs }: FollowOptions, cursor: number) {
  const timeoutMs = Math.min(timeLeftMs(), LONGEST_WAIT_MS);
  return waitForNews({ waiters, sessionId, cursor, timeoutMs, read: () => read(cursor), response });
}

/** Events, one by one as there is room: no more of them are held than were read at once. */
async function sendEvents(stream: EventStream, { events }: ChangesRow, cursor: number): Promise<void> {
  let index = cursor;
  for (const json of splitList(events ?? "")) {
    await stream.room();
    if (stream.isOver) return;
    stream.write(toEventFrame(index++, json));
  }
  await stream.room();
}

/** Tries again while the database is away: a client that asked anew would be refused. */
async function patiently<T>(stream: EventStream, attempt: () => Promise<T>): Promise<T | "gone"> {
  while (!stream.isOver) {
    try {
      return await attempt();
    } catch (error) {
      const isPassing =
        error instanceof TandemError ? error.code === "unavailable" : isDatabaseUnavailable(error);
      if (!isPassing) throw error;
      await delay(READ_AGAIN_MS);
    }
  }
  return "gone";
}

/** Most UTF-16 units of text in one frame. */
const MAX_UNITS = 64 * 1024;

/** Sends the running request's text whenever there is more of it and room for it. */
function sendText({ stream, texts, sessionId }: FollowOptions) {
  let knownSteps: number | null = null;
  let sent = { fence: 0, units: 0 };
  let isWaiting = false;

  const send = () => {
    const { running } = follower;
    if (isWaiting || knownSteps === null || running?.step !== knownSteps + 1) return;
    const { step, fence, text } = running;
    if (sent.fence !== fence) sent = { fence, units: 0 };
    while (sent.units < text.length && stream.hasRoom && !stream.isOver) {
      const end = toCut(text, sent.units + MAX_UNITS);
      const delta = { type: "delta", step, offset: sent.units, text: text.slice(sent.units, end) };
      stream.write(toNamedFrame("delta", JSON.stringify(delta)));
      sent.units = end;
    }
    if (sent.units < text.length && !stream.isOver) void sendWithRoom();
  };
  const sendWithRoom = async () => {
    isWaiting = true;
    await stream.room();
    isWaiting = false;
    if (!stream.isOver) send();
  };
  const follower = texts.follow(sessionId, send);
  return {
    /** Sends nothing until it is known which steps were sent. */
    hold(): void {
      knownSteps = null;
    },
    /** All events of so many steps were sent. */
    knowSteps(steps: number): void {
      knownSteps = steps;
      follower.settle(steps);
      send();
    },
    stop: () => follower.stop(),
  };
}
