// The calls of one session that run in this process. All waits of a client for the session share them: each call is run
// once, and its result is posted until it has arrived.
import { type AbortScope, openAbortScope, untilAborted } from "./abort-scope.ts";
import { type CallOutcome, callTool, type PostedResult, toErrorEntry } from "./call-tool.ts";
import { DeliverResults } from "./deliver-results.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { ToolRequest } from "./generated/types.gen.ts";
import { CallRecord, type Journal, mayRunAgain, toUnknownOutcome } from "./journal.ts";
import { toCallKey } from "./pending-calls.ts";
import type { PermissionDecision, PermissionRequest } from "./permissions.ts";
import type { RunEnvironment } from "./run-environment.ts";
import { createProgress } from "./send-progress.ts";

/** A handler that has been started. */
interface Run {
  readonly scope: AbortScope;
  /** Resolves when the handler is through; never rejects. */
  readonly work: Promise<void>;
  /** The wait that found it running: it runs the call anew if this comes to nothing after its abort. */
  next?: RunEnvironment;
}

/** Owned by the client, which keeps it while there is something to keep. */
export class ToolRuns {
  readonly #sessionId: string;
  readonly #api: TandemApi;
  readonly #journal: Journal | null;
  readonly #waits = new Set<RunEnvironment>();
  readonly #runs = new Map<string, Run>();
  /** Handlers that were aborted with the last wait, and came to no result: whether they took effect is unknown. */
  readonly #unknown = new Set<string>();
  readonly #delivery: DeliverResults;
  #nextIndex = 0;

  constructor(sessionId: string, { api, journal }: { api: TandemApi; journal: Journal | null }) {
    this.#sessionId = sessionId;
    this.#api = api;
    this.#journal = journal;
    this.#delivery = new DeliverResults({
      post: (body, signal) => api.submitToolResults({ path: { id: sessionId }, body, signal }),
      siblings: () => [...this.#runs.values()].map(({ scope, work }) => untilAborted(work, scope.signal)),
      onDelivered: (key) => void this.#record(key).forget(),
      onFailure: (error) => this.#fail(error),
    });
  }

  /** True while there is a wait. */
  get isUsed(): boolean {
    return this.#waits.size > 0;
  }

  /** True when nothing is lost without it. */
  get isIdle(): boolean {
    return this.#runs.size + this.#unknown.size + this.#delivery.results.size === 0;
  }

  /** A wait begins. */
  join(wait: RunEnvironment): void {
    this.#waits.add(wait);
    this.#delivery.open();
  }

  /** A wait is over. With the last one the handlers that still run are aborted, and nothing is posted any more. */
  leave(wait: RunEnvironment): void {
    this.#waits.delete(wait);
    if (this.#waits.size > 0) return;
    for (const { scope } of this.#runs.values()) scope.abort();
    this.#delivery.close();
  }

  /** Takes over a list of pending calls, unless a later one is known: withdraws what is gone, runs what is new. */
  follow(
    wait: RunEnvironment,
    list: { pending: readonly ToolRequest[]; nextIndex: number; mayStart: boolean },
  ): void {
    if (list.nextIndex < this.#nextIndex) return;
    this.#nextIndex = list.nextIndex;
    const calls = new Map(list.pending.map((call) => [toCallKey(call), call]));
    for (const [key, run] of this.#runs) if (!calls.has(key)) this.#withdraw(key, run);
    for (const key of this.#unknown) if (!calls.has(key)) this.#forget(key);
    for (const key of this.#delivery.follow([...calls.keys()])) this.#forget(key);
    if (!list.mayStart) return;
    for (const [key, call] of calls) if (!this.#delivery.has(key)) this.#start(wait, key, call);
    this.#delivery.deliver();
  }

  /** Ends every wait: a handler may run for one that is over, and the others wait for its result. */
  #fail(error: unknown): void {
    for (const wait of this.#waits) wait.onFailure(error);
  }

  #record(key: string): CallRecord {
    return new CallRecord(this.#journal, `${this.#sessionId}/${key}`);
  }

  #withdraw(key: string, run: Run): void {
    run.scope.abort();
    this.#runs.delete(key);
    this.#forget(key);
  }

  #forget(key: string): void {
    this.#unknown.delete(key);
    void this.#record(key).forget();
  }

  #start(wait: RunEnvironment, key: string, call: ToolRequest): void {
    const tool = wait.findTool(call);
    const earlier = this.#runs.get(key);
    // Nothing runs beside a handler that did not heed its abort: what it comes to counts.
    if (earlier) {
      earlier.next = wait;
      return;
    }
    if (this.#unknown.delete(key) && !mayRunAgain(tool)) {
      this.#keep(key, toUnknownOutcome(call));
      return;
    }
    const scope = openAbortScope({});
    const work = this.#run(wait, { key, call, scope }).catch((error) => {
      if (!scope.signal.aborted) this.#fail(error);
    });
    const run: Run = { scope, work };
    this.#runs.set(key, run);
    void work.then(() => {
      if (this.#runs.get(key) === run) {
        this.#runs.delete(key);
        const { next } = run;
        const isInVain = scope.signal.aborted && !this.#delivery.has(key);
        if (isInVain && next && this.#waits.has(next)) this.#start(next, key, call);
      }
      this.#delivery.deliver();
    });
  }

  /** What it throws is the journal's, or the reason why a call that waited for its slot was given up. */
  async #run(
    wait: RunEnvironment,
    { key, call, scope }: { key: string; call: ToolRequest; scope: AbortScope },
  ) {
    const tool = wait.findTool(call);
    const record = this.#record(key);
    const release = await wait.slots.acquire(tool, scope.signal);
    try {
      const known = await record.read();
      if (known?.state === "done") return this.#keep(key, known.result);
      if (known && !mayRunAgain(tool)) return this.#keep(key, toUnknownOutcome(call));
      scope.signal.throwIfAborted();
      const startedAt = performance.now();
      const outcome = await this.#call(wait, { key, call, signal: scope.signal, record });
      if (record.fault) throw record.fault;
      for (const each of this.#waits) each.onOutcome(key, outcome, performance.now() - startedAt);
      if (outcome.raised && this.isUsed) this.#delivery.settle(key);
      else await this.#finish(key, { outcome, scope, record });
    } finally {
      release();
    }
  }

  async #call(
    wait: RunEnvironment,
    {
      key,
      call,
      signal,
      record,
    }: { key: string; call: ToolRequest; signal: AbortSignal; record: CallRecord },
  ): Promise<CallOutcome> {
    const callId = call.id ?? key;
    const path = { id: this.#sessionId, call_id: callId };
    try {
      return await callTool(wait.tools, call, {
        sessionId: this.#sessionId,
        callId,
        signal,
        context: wait.context,
        progress: createProgress((progress) =>
          this.#api.reportToolProgress({ path, body: { progress }, signal }),
        ),
        askPermission: wait.askPermission && ((request) => this.#ask(wait, request)),
        onStart: () => record.start(signal),
      });
    } catch (error) {
      return { posted: toErrorEntry(call, String(error)), guardrailResults: [], raised: null };
    }
  }

  /** What the handler throws ends the waits, and with them the question; the call stays open. */
  async #ask(wait: RunEnvironment, request: PermissionRequest): Promise<PermissionDecision> {
    try {
      return (await wait.askPermission?.(request)) ?? "deny";
    } catch (error) {
      this.#fail(error);
      return untilAborted(new Promise<never>(() => {}), request.signal);
    }
  }

  async #finish(
    key: string,
    { outcome, scope, record }: { outcome: CallOutcome; scope: AbortScope; record: CallRecord },
  ) {
    const { posted } = outcome;
    const isWanted = () => this.#runs.get(key)?.scope === scope;
    if (!isWanted()) return;
    // An error after the abort says nothing about what was done before it.
    if (scope.signal.aborted && posted.kind === "error_event") {
      if (record.isStarted) this.#unknown.add(key);
      return;
    }
    await record.finish(posted);
    if (isWanted()) this.#keep(key, posted);
    else await record.forget();
  }

  #keep(key: string, result: PostedResult): void {
    this.#delivery.results.set(key, result);
  }
}
