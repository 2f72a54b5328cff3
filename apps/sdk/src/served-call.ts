// One call of the feed: claimed, run, and its result posted until it has arrived.
import { type AbortScope, openAbortScope, pause, untilAborted } from "./abort-scope.ts";
import { CallClaim, type ClaimLoss, toClaimLoss } from "./call-claim.ts";
import { type CallOutcome, callTool, type PostedResult } from "./call-tool.ts";
import { APIError } from "./errors.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { OfferedToolCall } from "./generated/types.gen.ts";
import { CallRecord, type Journal, mayRunAgain, toUnknownOutcome } from "./journal.ts";
import type { AskPermission } from "./permissions.ts";
import { postResults } from "./post-results.ts";
import { retryDelayMs } from "./retry.ts";
import { createProgress } from "./send-progress.ts";
import type { Tool } from "./tool.ts";

/** How a call that was offered came to its end here. */
export type ServedEnd =
  /** Its result is with the server. */
  | "answered"
  /** Another process had claimed it, or claimed it when the claim had lapsed; or nobody waits for it. */
  | ClaimLoss
  /** It was claimed, and is left to another process. */
  | "left";

/** What calls are served with. */
export interface Serving {
  api: TandemApi;
  tools: readonly Tool[];
  claimant: string;
  leaseS: number;
  context: unknown;
  askPermission: AskPermission | null;
  journal: Journal | null;
  /** Aborted when no more calls are to be started. */
  closing: AbortSignal;
  /** Aborted when handlers have had their time. */
  handlers: AbortSignal;
  /** Aborted when nothing more is to be sent. */
  requests: AbortSignal;
  onStart: (offered: OfferedToolCall) => void;
  onError: (error: unknown, offered: OfferedToolCall) => void;
}

/**
 * Serves a call.
 *
 * @throws {TandemError} when it cannot be claimed, or its journal or the server refuses; a claim that was taken lapses then
 */
export async function serveCall(serving: Serving, offered: OfferedToolCall): Promise<ServedEnd> {
  let loss: ClaimLoss | null = null;
  const scope = openAbortScope({ parent: serving.handlers });
  const claim = new CallClaim({
    api: serving.api,
    sessionId: offered.session_id,
    callId: offered.call.id,
    claimant: serving.claimant,
    leaseS: serving.leaseS,
    onLoss: (how) => {
      loss = how;
      scope.abort();
    },
    onError: (error) => serving.onError(error, offered),
  });
  try {
    const taken = await claim.take(serving.requests);
    if (typeof taken === "string") return taken;
    const run = new ServedCall(serving, offered, { scope, claim });
    const end = await run.serve(taken);
    return end === "left" && loss ? loss : end;
  } finally {
    claim.leave();
    scope.release();
  }
}

class ServedCall {
  readonly #serving: Serving;
  readonly #offered: OfferedToolCall;
  readonly #scope: AbortScope;
  readonly #claim: CallClaim;
  readonly #tool: Tool | undefined;
  readonly #record: CallRecord;

  constructor(serving: Serving, offered: OfferedToolCall, parts: { scope: AbortScope; claim: CallClaim }) {
    const { session_id: sessionId, call } = offered;
    this.#serving = serving;
    this.#offered = offered;
    this.#scope = parts.scope;
    this.#claim = parts.claim;
    this.#tool = serving.tools.find(({ name }) => name === call.tool_name);
    this.#record = new CallRecord(serving.journal, `${sessionId}/${call.id}`);
  }

  async serve({ mayHaveRun }: { mayHaveRun: boolean }): Promise<ServedEnd> {
    const { closing, requests } = this.#serving;
    const known = await this.#record.read();
    if (known?.state === "done") return this.#deliver(known.result);
    if ((known || mayHaveRun) && !mayRunAgain(this.#tool)) return this.#deliver(this.#unknownOutcome());
    if (closing.aborted) {
      await this.#claim.release(requests);
      return "left";
    }
    this.#serving.onStart(this.#offered);
    const outcome = await this.#run();
    if (this.#record.fault) throw this.#record.fault;
    if (!outcome) return this.#giveUp();
    if (outcome.raised && (await this.#cancelSession(outcome.raised))) return "answered";
    await this.#record.finish(outcome.posted);
    return this.#deliver(outcome.posted);
  }

  /** Null when the call was taken away from the handler. One that does not heed its signal is left to itself. */
  async #run(): Promise<CallOutcome | null> {
    const { api, tools, context, askPermission } = this.#serving;
    const { session_id: sessionId, call } = this.#offered;
    const { signal } = this.#scope;
    const path = { id: sessionId, call_id: call.id };
    const outcome = callTool(tools, call, {
      ...{ sessionId, callId: call.id, signal, context },
      progress: createProgress((progress) => api.reportToolProgress({ path, body: { progress }, signal })),
      askPermission: askPermission && (async (request) => askPermission(request)),
      onStart: () => this.#record.start(signal),
    });
    return untilAborted(outcome, signal).catch(() => null);
  }

  /** The claim is lost, or this process ends: then another one takes over, unless that would be a second run. */
  async #giveUp(): Promise<ServedEnd> {
    if (!this.#serving.handlers.aborted) {
      await this.#record.forget();
      return "left";
    }
    if (this.#record.isStarted && !mayRunAgain(this.#tool)) return this.#deliver(this.#unknownOutcome());
    await this.#claim.release(this.#serving.requests);
    await this.#record.forget();
    return "left";
  }

  #unknownOutcome(): PostedResult {
    return toUnknownOutcome(this.#offered.call);
  }

  /** Posts a result until it has arrived. The claim is renewed meanwhile, so that nobody else runs the call. */
  async #deliver(result: PostedResult): Promise<ServedEnd> {
    const { api, requests, onError } = this.#serving;
    const path = { id: this.#offered.session_id };
    for (let failures = 0; ; ) {
      try {
        await postResults((body) => api.submitToolResults({ path, body, signal: requests }), [result]);
        await this.#record.forget();
        return "answered";
      } catch (error) {
        if (toClaimLoss(error)) return "gone";
        if (requests.aborted || isRefusal(error)) throw error;
        onError(error, this.#offered);
        failures += 1;
        await pause(retryDelayMs(failures, error), requests);
      }
    }
  }

  /** A guardrail ends the run. When the session cannot be cancelled, the result that says why is posted. */
  async #cancelSession(raised: Error): Promise<boolean> {
    const { api, requests, onError } = this.#serving;
    onError(raised, this.#offered);
    try {
      await api.cancelSession({ path: { id: this.#offered.session_id }, signal: requests });
      await this.#record.forget();
      return true;
    } catch (error) {
      onError(error, this.#offered);
      return false;
    }
  }
}

/** True for what the server refuses for good: asking again would bring the same. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof APIError)) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
}
