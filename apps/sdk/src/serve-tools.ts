// Tools that live apart from the programs that start sessions: a process that answers the calls of many sessions.
import { TandemError } from "./errors.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { PendingToolCall } from "./generated/types.gen.ts";
import type { Journal } from "./journal.ts";
import type { AskPermission } from "./permissions.ts";
import type { ServedEnd } from "./served-call.ts";
import { type ToolSource, toTools } from "./tool-definitions.ts";
import { ToolServer } from "./tool-server.ts";

/** Most names of tools that the feed takes. */
const maxTools = 200;
/** The longest lease, in seconds. */
const maxLeaseS = 3_600;

/** What {@link ServeToolsOptions.onCall} gets: once when a handler starts, and once when the call is over here. */
export interface ServedCallEvent {
  /**
   * `started`: its handler begins. `answered`: its result has arrived. `left`: the claim was given up, so that another
   * process runs it. `taken`, `gone`: another process has it, or nobody waits for it any more.
   */
  type: "started" | ServedEnd;
  sessionId: string;
  /** The name of the session's agent. */
  agent: string;
  call: PendingToolCall;
  /** From the claim on, in ms; 0 for `started`. */
  durationMs: number;
}

/** Options of {@link serveTools}. */
export interface ServeToolsOptions {
  client: TandemApi;
  /** The tools to serve. Sessions know them by their definitions: names must be the same. */
  tools: readonly ToolSource[];
  /** Serves sessions of these agents only, by name. Default: of all. */
  agents?: readonly string[] | undefined;
  /** Names this process in claims. No two that run at once may have the same. Default: a random name. */
  claimant?: string | undefined;
  /**
   * How long a claim lasts, in seconds; it is renewed in the middle. So long after a process has died others take its
   * calls. Default: 30.
   */
  leaseS?: number | undefined;
  /** Most calls at a time, of all tools together. A tool's own `maxConcurrency` bounds its calls. Default: 10. */
  maxConcurrency?: number | undefined;
  /** How long one question for calls may wait, in seconds, 1 to 25. Default: 20. */
  waitForSeconds?: number | undefined;
  /** How long `close()` waits for calls that run, in ms. Default: 10,000. */
  drainMs?: number | undefined;
  /** Aborted: closes, without time for calls that run. */
  signal?: AbortSignal | undefined;
  /** Handed to tools as `context`. */
  context?: unknown;
  /** Answers `requiresApproval` of the tools. Default: such calls fail with an error that says that nobody answers. */
  onPermissionRequest?: AskPermission | undefined;
  /** Keeps results beyond the end of the process. Default: none. */
  journal?: Journal | undefined;
  /** Told of the course of each call. */
  onCall?: ((event: ServedCallEvent) => void) | undefined;
  /** Told of failures: of requests that are tried again too, and of guardrails that end a session. */
  onError?:
    | ((error: unknown, about: { sessionId: string; call: PendingToolCall } | null) => void)
    | undefined;
}

/** Tools that are being served. */
export interface ToolServing {
  /**
   * Takes no more calls, waits for those that run for `drainMs`, and aborts the rest: they are given back, so that another
   * process takes them at once. Of an `unsafe` tool the model is told that the outcome is unknown. Never rejects.
   */
  close(): Promise<void>;
  /** Resolves when it is closed; rejects when the server refuses to tell of calls, as for a key that is revoked. */
  readonly done: Promise<void>;
}

/**
 * Answers calls of many sessions, in any number of processes at once. A call is claimed before it runs, so that one
 * process runs it; when that dies, another takes the call over, and the tool's `sideEffects` says what becomes of it.
 *
 * @throws {TandemError} when an option is out of its bounds
 * @example
 * const serving = serveTools({ client, tools: [getWeather] });
 * process.once("SIGTERM", () => serving.close());
 * await serving.done;
 */
export function serveTools(options: ServeToolsOptions): ToolServing {
  const { signal, onCall = () => {}, onError = () => {} } = options;
  const server = new ToolServer({
    ...toBounds(options),
    api: options.client,
    agents: options.agents ?? [],
    claimant: options.claimant ?? makeName(),
    context: options.context,
    askPermission: options.onPermissionRequest ?? null,
    journal: options.journal ?? null,
    onStart: ({ session_id, agent, call }) =>
      tell(() => onCall({ type: "started", sessionId: session_id, agent, call, durationMs: 0 })),
    onEnd: ({ session_id, agent, call }, type, durationMs) =>
      tell(() => onCall({ type, sessionId: session_id, agent, call, durationMs })),
    onError: (error, offered) =>
      tell(() => onError(error, offered && { sessionId: offered.session_id, call: offered.call })),
  });
  const stop = () => void server.close({ drainMs: 0 });
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const letGo = () => signal?.removeEventListener("abort", stop);
  server.done.then(letGo, letGo);
  return { close: () => server.close(), done: server.done };
}

function toBounds(options: ServeToolsOptions) {
  const { leaseS = 30, maxConcurrency = 10, waitForSeconds = 20, drainMs = 10_000 } = options;
  const tools = toTools(options.tools);
  const check = (isRight: boolean, what: string) => {
    if (!isRight) throw new TandemError(what);
  };
  check(
    tools.length >= 1 && tools.length <= maxTools,
    `serveTools takes 1 to ${maxTools} tools, not ${tools.length}`,
  );
  check(leaseS > 0 && leaseS <= maxLeaseS, `leaseS must be over 0, and at most ${maxLeaseS}, not ${leaseS}`);
  check(maxConcurrency >= 1, `maxConcurrency must be at least 1, not ${maxConcurrency}`);
  const unfit = tools.find((tool) => tool.maxConcurrency !== undefined && !(tool.maxConcurrency >= 1));
  check(!unfit, `Tool ${JSON.stringify(unfit?.name)}: maxConcurrency must be at least 1`);
  check(
    Number.isInteger(waitForSeconds) && waitForSeconds >= 1 && waitForSeconds <= 25,
    `waitForSeconds must be a whole number from 1 to 25, not ${waitForSeconds}`,
  );
  check(drainMs >= 0, `drainMs must be at least 0, not ${drainMs}`);
  return { tools, leaseS, maxConcurrency, waitForSeconds, drainMs };
}

/** What listens must not break what it listens to. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch {
    // It has nowhere else to go.
  }
}

/** `crypto.randomUUID` is missing in pages that did not come over https. */
function makeName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `tools-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
