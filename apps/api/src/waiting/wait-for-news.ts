import type { ServerResponse } from "node:http";
import { isTerminal } from "@tandem/engine/domain/session-state";
import type { ChangesRow } from "@tandem/engine/postgres/read-events";
import type { Waiter, Waiters } from "./waiters.ts";

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
 * @returns the last state read; null when the client has gone
 */
export async function waitForNews(options: WaitOptions): Promise<ChangesRow | null> {
  const { waiters, response, sessionId, cursor, read } = options;
  const deadline = performance.now() + options.timeoutMs;
  let waiter: Waiter | null = null;
  const onClose = () => waiter?.end("gone");
  response.once("close", onClose);
  try {
    for (;;) {
      waiter = waiters.wait(sessionId, cursor, Math.max(0, deadline - performance.now()));
      const row = await read();
      if (hasNews(row, cursor) || isTerminal(row.status)) return row;
      if (response.destroyed) return null;
      const reason = await waiter.ended;
      if (reason === "gone") return null;
      if (reason !== "woken") return row;
    }
  } finally {
    waiter?.end("gone");
    response.off("close", onClose);
  }
}

/** True when there is an event that the cursor has not passed. */
export function hasNews(row: ChangesRow, cursor: number): boolean {
  return row.nextIndex > cursor;
}
