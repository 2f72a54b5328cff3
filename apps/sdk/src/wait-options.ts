// How to wait for a session.
import type { PermissionHandler } from "./approvals.ts";
import type { SessionEvent } from "./generated/types.gen.ts";
import type { ToolSchema } from "./schemas/tool-schema.ts";
import type { ToolSource } from "./tool-definitions.ts";

/** How to wait. */
export interface WaitOptions {
  /** Tools to run here. An empty list runs none: the calls are left to another process. */
  tools?: readonly ToolSource[] | undefined;
  /** A value of yours that tools and guardrails get as `context`. It stays in this process. */
  context?: unknown;
  /** What the answer is checked with, and its type taken from. Default: what the session was started with here. */
  answerSchema?: ToolSchema | undefined;
  /**
   * Decides on calls that need an approval: asked once for each, for several at the same time. What it throws ends the
   * wait. `"elsewhere"` says that others decide. Default: nobody does, so that a {@link PermissionRequiredError} is thrown
   * when the session waits for approvals alone, and for one without a deadline.
   */
  onPermissionRequest?: PermissionHandler | undefined;
  /** Most calls that run here at a time; more wait for their turn. Default: any number. */
  maxConcurrency?: number | undefined;
  /** Called with each event, in order. A promise is awaited; what it throws ends the wait. */
  onEvent?: ((event: SessionEvent) => void | Promise<void>) | undefined;
  /** Ends the wait, and aborts the tools that run. The session goes on, unless `cancelOnAbort` is set. */
  signal?: AbortSignal | undefined;
  /** Whether an aborted `signal` cancels the session too. It is tried for 5 s at most. Default: false. */
  cancelOnAbort?: boolean | undefined;
  /**
   * How long to wait, in ms; then a {@link TimeoutError} is thrown, and the session goes on. Where the wait creates its
   * session, that may take as long before. Default: no bound.
   */
  timeoutMs?: number | undefined;
  /**
   * Whether an end other than `completed` and `idle` throws a {@link SessionFailedError}. Default: false, it is a result.
   */
  throwOnFailure?: boolean | undefined;
  /** How long one poll may take, in seconds, 0 to 25. Default: 20. */
  waitForSeconds?: number | undefined;
}
