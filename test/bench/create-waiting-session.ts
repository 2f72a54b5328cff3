// A session at the moment at which it waits for its client.
import type { ApiClient } from "./api-client.ts";
import { createSession, type PendingCall, pendingOf, poll } from "./play-session.ts";

/** A session that waits for the results of calls. */
export interface WaitingSession {
  id: string;
  /** The events that were seen. */
  cursor: number;
  calls: PendingCall[];
}

/** Creates a session whose first step asks for so many calls, and waits until it does. */
export async function createWaitingSession(
  api: ApiClient,
  plan: { key: string; calls: number },
): Promise<WaitingSession> {
  const id = await createSession(api, { ...plan, steps: 1 });
  for (let cursor = 0; ; ) {
    const changes = await poll(api, id, cursor);
    if (!changes) throw new Error(`Session ${id} does not get on`);
    cursor = changes.next_index;
    const calls = pendingOf(changes);
    if (calls && calls.length > 0) return { id, cursor, calls };
  }
}
