// One client that follows a session: its events from the database, its state, and the text that comes meanwhile.

import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { TandemError } from "@tandem/engine/domain/errors";
import type { PolicyData } from "@tandem/engine/domain/events";
import { isTerminal } from "@tandem/engine/domain/session-state";
import { isDatabaseUnavailable } from "@tandem/engine/postgres/pool";
import type { ChangesRow } from "@tandem/engine/postgres/read-changes";
import type { StreamEnd } from "@tandem/engine/telemetry/metrics";
import { toStateFields } from "../schemas/sessions.ts";
import { waitForNews } from "../waiting/wait-for-news.ts";
import type { Waiters } from "../waiting/waiters.ts";
import type { EventStream } from "./event-stream.ts";
import { splitList, toEventFrame, toNamedFrame } from "./frames.ts";
import type { RunningTexts } from "./running-texts.ts";
import { sendText, type TextSender } from "./send-text.ts";

/** Whom it serves, and with what. */
export interface FollowOptions {
  stream: EventStream;
  waiters: Waiters;
  sessionId: string;
  fromIndex: number;
  /** Reads the next few events from a cursor on. */
  read: (cursor: number) => Promise<ChangesRow>;
  /** How many of the session's steps have said what they have to say before an index. */
  countSteps: (index: number) => Promise<number>;
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
  /** So many steps said something before the cursor; null where nobody has looked. */
  steps: number | null;
  /** True when there are events past the cursor. */
  isBehind: boolean;
}

/**
 * Sends until the session has ended, or the stream has. The text of a step comes before its events, all of it: while it
 * is told, if it is told of the step that comes after the events that were sent, and the rest when the step has ended.
 *
 * @throws {TandemError} `session_not_found` when the session was deleted meanwhile
 */
export async function followSession(options: FollowOptions): Promise<StreamEnd> {
  const { stream, texts, sessionId, fromIndex: cursor } = options;
  const text = sendText(stream, texts, sessionId);
  try {
    let place: Place = { cursor, steps: cursor === 0 ? 0 : null, isBehind: true };
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
  text: TextSender,
  { cursor, steps, isBehind }: Place,
): Promise<Place | StreamEnd> {
  const { stream, waiters } = options;
  const row = await patiently(stream, () => (isBehind ? options.read(cursor) : waitOn(options, cursor)));
  if (row === "nothing new") return waiters.isShutDown ? "shutdown" : "credential";
  if (row === "gone") return "gone";
  // What is told of a step while its events are on their way would come behind them.
  text.hold();
  const nextSteps = await sendEvents(options, text, { row, cursor, steps });
  if (stream.isOver) return "gone";
  const nextCursor = cursor + row.eventCount;
  // Events that are gone, as of an ephemeral session, will not come however often they are asked for.
  if (row.eventCount > 0 && nextCursor < row.nextIndex)
    return { cursor: nextCursor, steps: nextSteps, isBehind: true };
  stream.write(toNamedFrame("state", `{${toStateFields(row, cursor)}}`));
  if (isTerminal(row.status)) return "finished";
  text.knowSteps(row.steps);
  return { cursor: nextCursor, steps: row.steps, isBehind: false };
}

function waitOn({ waiters, sessionId, read, response, timeLeftMs }: FollowOptions, cursor: number) {
  const timeoutMs = Math.min(timeLeftMs(), LONGEST_WAIT_MS);
  return waitForNews({ waiters, sessionId, cursor, timeoutMs, read: () => read(cursor), response });
}

/**
 * Events, one by one as there is room: no more of them are held than were read at once. Gives how many steps have said
 * something by then, if it is known.
 */
async function sendEvents(
  { stream, countSteps }: FollowOptions,
  text: TextSender,
  { row, cursor, steps }: { row: ChangesRow } & Omit<Place, "isBehind">,
): Promise<number | null> {
  let index = cursor;
  let step = steps;
  for (const json of splitList(row.events ?? "")) {
    const said = toSaid(json);
    if (said !== null) {
      const before = step ?? (await patiently(stream, () => countSteps(index)));
      if (before === "gone") break;
      step = before + 1;
      await text.complete(step, said);
    }
    await stream.room();
    if (stream.isOver) break;
    stream.write(toEventFrame(index++, json));
  }
  await stream.room();
  return step;
}

/** What the model said in the step that the event is of; null when it is another kind of event. */
function toSaid(json: string): string | null {
  // Most events are not looked into. What has the words may still be another: a user's text, as one. Of the JSON, only
  // a text is taken, so that numbers need no care.
  if (!json.includes('"policy_event"')) return null;
  const { type, data } = JSON.parse(json) as { type: string; data: Partial<PolicyData> & { kind?: string } };
  return type === "AgentEvent" && data.kind === "policy_event" ? (data.content ?? "") : null;
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
