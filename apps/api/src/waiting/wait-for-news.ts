import type { ServerResponse } from "node:http";
import { isTerminal } from "@tandem/engine/domain/session-state";
import type { ChangesRow } from "@tandem/engine/postgres/read-changes";
import type { Waiters } from "./waiters.ts";

/** What a poll waits for, and how long. */
export interface WaitOptions {
  waiters: Waiters;
  sessionId: string;
  /** The number of events already seen. */
  cursor: number;
  timeoutMs: number;
  read: () => Promise<ChangesRow>;
  /** The client's connection: when it closes, the wait is over. */
  response: ServerResponse;
}

/**
 * Reads a session until there is something past the cursor, it has ended, or the time is up: subscribe, read, wait,
 * and again. A wake-up that comes while it reads is remembered by the subscription, so nothing falls between.
 *
 * @returns the state when there is news, or when the session has ended; "gone" when the client has
 */
export async function waitForNews(options: WaitOptions): Promise<ChangesRow | "nothing new" | "gone"> {
  const { waiters, response, sessionId, cursor } = options;
  const waiter = waiters.wait(sessionId, cursor, options.timeoutMs);
  const onClose = () => waiter.end("gone");
  response.once("close", onClose);
  try {
    for (;;) {
      const news = await readNews(options);
      if (news) return news;
      if (response.destroyed) return "gone";
      const reason = await waiter.ended;
      if (reason !== "woken") return reason === "gone" ? "gone" : "nothing new";
      waiter.waitOn();
    }
  } finally {
    waiter.end("gone");
    response.off("close", onClose);
  }
}

/** The state, if it is one to answer with: what is read in vain is not kept while the poll waits. */
async function readNews({ read, cursor }: WaitOptions): Promise<ChangesRow | null> {
  const row = await read();
  return hasNews(row, cursor) || isTerminal(row.status) ? row : null;
}

/** True when there is an event that the cursor has not passed. */
export function hasNews(row: ChangesRow, cursor: number): boolean {
  return row.nextIndex > cursor;
}
