// The calls that run in this process during one wait: each is run once, and its result is posted until it has arrived.
import { type AbortScope, openAbortScope, pause, untilAborted, withAbortScope } from "./abort-scope.ts";
import { callTool, type PostedResult } from "./call-tool.ts";
import { isOutage } from "./errors.ts";
import type { ToolRequest } from "./generated/types.gen.ts";
import { toCallKey } from "./pending-calls.ts";
import { type PostBody, postResults } from "./post-results.ts";
import { retryDelayMs } from "./retry.ts";
import type { Tool } from "./tool.ts";

/** How long a finished call waits for those that still run, so that they are posted together. */
const siblingWaitMs = 1_000;
/** After so many failed posts in a row the wait ends with the last failure. */
const maxPostFailures = 8;

/** What {@link ToolRuns} needs. */
export interface ToolRunsOptions {
  sessionId: string;
  tools: readonly Tool[];
  /** Results that the server does not have yet, by call. What a closed wait leaves here, the next one posts. */
  results: Map<string, PostedResult>;
  post: (body: Parameters<PostBody>[0], signal: AbortSignal) => Promise<unknown>;
  /** When it is aborted, so are all handlers. */
  signal: AbortSignal;
  /** Called when results cannot be delivered. */
  onFailure: (error: unknown) => void;
}

/** Runs pending calls in parallel and delivers what they return. `close` aborts those that still run. */
export class ToolRuns {
  readonly #options: ToolRunsOptions;
  readonly #scope: AbortScope;
  readonly #started = new Set<string>();
  readonly #running = new Map<string, { scope: AbortScope; done: Promise<void> }>();
  /** The keys of the latest list, in its order. */
  #order: string[] = [];
  #isDelivering = false;

  constructor(options: ToolRunsOptions) {
    this.#options = options;
    this.#scope = openAbortScope({ parent: options.signal });
  }

  /** Takes over the latest list of pending calls: withdraws what is gone, and runs what is new if `mayStart`. */
  follow(pending: readonly ToolRequest[], { mayStart }: { mayStart: boolean }): void {
    const { results } = this.#options;
    const calls = new Map(pending.map((call) => [toCallKey(call), call]));
    this.#order = [...calls.keys()];
    for (const [key, { scope }] of this.#running) if (!calls.has(key)) scope.abort();
    for (const key of results.keys()) if (!calls.has(key)) results.delete(key);
    if (!mayStart) return;
    for (const [key, call] of calls) {
      if (!this.#started.has(key) && !results.has(key)) this.#start(key, call);
    }
    this.#deliver();
  }

  /** Aborts the handlers that still run, and stops posting. */
  close(): void {
    this.#scope.abort();
    this.#scope.release();
  }

  #start(key: string, call: ToolRequest): void {
    this.#started.add(key);
    const scope = openAbortScope({ parent: this.#scope.signal });
    this.#running.set(key, { scope, done: this.#run(key, call, scope) });
  }

  async #run(key: string, call: ToolRequest, scope: AbortScope): Promise<void> {
    const { sessionId, tools, results } = this.#options;
    const environment = {
      sessionId,
      callId: call.id ?? key,
      signal: scope.signal,
      context: undefined,
      progress: async () => {},
      askPermission: null,
    };
    // Nobody waits for a withdrawn call, so a handler that does not heed its signal is left to itself.
    const outcome = await untilAborted(callTool(tools, call, environment), scope.signal).catch(() => null);
    scope.release();
    this.#running.delete(key);
    if (outcome) results.set(key, outcome.posted);
    this.#deliver();
  }

  #deliver(): void {
    if (this.#isDelivering || this.#options.results.size === 0 || this.#scope.signal.aborted) return;
    this.#isDelivering = true;
    this.#postUntilEmpty().catch((error: unknown) => {
      if (!this.#scope.signal.aborted) this.#options.onFailure(error);
    });
  }

  async #postUntilEmpty(): Promise<void> {
    try {
      for (let failures = 0; this.#options.results.size > 0; ) {
        await this.#waitForSiblings();
        failures = (await this.#tryToPost(failures)) ? 0 : failures + 1;
      }
    } finally {
      // In the same breath as the last look at the results: one that comes now starts the next delivery.
      this.#isDelivering = false;
    }
  }

  /** Posts what there is. False when it failed in a way that passes, after a pause. */
  async #tryToPost(earlierFailures: number): Promise<boolean> {
    const { signal } = this.#scope;
    const { results, post } = this.#options;
    const batch = [...results].sort(([a], [b]) => this.#order.indexOf(a) - this.#order.indexOf(b));
    try {
      await postResults(
        (body) => withAbortScope(signal, (signal) => post(body, signal)),
        batch.map(([, result]) => result),
      );
    } catch (error) {
      if (signal.aborted || earlierFailures >= maxPostFailures || !isOutage(error)) throw error;
      await pause(retryDelayMs(earlierFailures + 1, error), signal);
      return false;
    }
    for (const [key] of batch) results.delete(key);
    return true;
  }

  async #waitForSiblings(): Promise<void> {
    const scope = openAbortScope({ parent: this.#scope.signal, timeoutMs: siblingWaitMs });
    const siblings = [...this.#running.values()].map(({ done }) => done);
    await untilAborted(Promise.all(siblings), scope.signal).catch(() => {});
    scope.release();
  }
}
