// A cancellation that nobody waits for long, for a session that its program has given up.
import { openAbortScope, untilAborted } from "./abort-scope.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";

const cancelTimeoutMs = 5_000;

/** Cancels a session if that can be done in 5 s. The session may be one that is yet to be made. Never throws. */
export async function cancelQuietly(api: TandemApi, sessionId: string | Promise<string>): Promise<void> {
  const scope = openAbortScope({ timeoutMs: cancelTimeoutMs });
  try {
    const id = await untilAborted(sessionId, scope.signal);
    await api.cancelSession({ path: { id }, signal: scope.signal });
  } catch {
    // It has ended, or cannot be reached: what ended the wait is what is told.
  } finally {
    scope.release();
  }
}
