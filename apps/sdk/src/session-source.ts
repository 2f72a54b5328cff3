// What the handles of a client share.
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { Operation } from "./operations.ts";
import type { RunsOfSessions } from "./runs-of-sessions.ts";

/** Owned by the client. */
export interface SessionSource {
  readonly api: TandemApi;
  readonly runs: RunsOfSessions;
  /** Opens a reply that is read piece by piece. */
  openReply(operation: Operation): Promise<Response>;
}
