// The approvals that a session waits for during one wait: the handler is asked, and its decisions are posted.
import { type AbortScope, openAbortScope, untilAborted } from "./abort-scope.ts";
import { APIError, PermissionRequiredError } from "./errors.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { Approval, PendingApproval } from "./generated/types.gen.ts";
import { pauseAfterOutage } from "./outages.ts";
import { toCallKey } from "./pending-calls.ts";
import type { AskPermission, PermissionDecision } from "./permissions.ts";
import type { Tool } from "./tool.ts";

/** Who answers requests for permission: a function here, or others, by the API. */
export type PermissionHandler = AskPermission | "elsewhere";

/** What {@link Approvals} needs. */
export interface ApprovalsOptions {
  sessionId: string;
  api: TandemApi;
  tools: readonly Tool[];
  handler: PermissionHandler | undefined;
  /** Called when the handler throws, or its decision cannot be delivered. */
  onFailure: (error: unknown) => void;
}

/** Asks once for each call, for all at the same time. `close` aborts the questions that are open. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #asked = new Map<string, AbortScope>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /**
   * Takes over the latest list. `isAll` says that the session waits for nothing else.
   *
   * @throws {PermissionRequiredError} when nobody here decides, and the wait for it would not end by itself
   */
  follow(pending: readonly PendingApproval[], { isAll }: { isAll: boolean }): void {
    const { handler, sessionId } = this.#options;
    const keys = new Set(pending.map(toCallKey));
    for (const [key, scope] of this.#asked) if (!keys.has(key)) scope.abort();
    const endless = pending.filter(({ deadline }) => !deadline);
    if (handler === undefined && isAll && endless.length > 0) {
      throw new PermissionRequiredError(sessionId, endless);
    }
    if (typeof handler !== "function") return;
    for (const approval of pending) this.#start(handler, approval);
  }

  close(): void {
    for (const scope of this.#asked.values()) scope.abort();
  }

  #start(handler: AskPermission, approval: PendingApproval): void {
    const key = toCallKey(approval);
    if (this.#asked.has(key)) return;
    const scope = openAbortScope({});
    this.#asked.set(key, scope);
    this.#ask(handler, approval, scope.signal).catch((error: unknown) => {
      if (!scope.signal.aborted) this.#options.onFailure(error);
    });
  }

  async #ask(handler: AskPermission, approval: PendingApproval, signal: AbortSignal): Promise<void> {
    const { sessionId, tools } = this.#options;
    const { tool_name, args, id, deadline = null, reason } = approval;
    const request = {
      source: "server" as const,
      sessionId,
      call: { tool_name, args, id },
      tool: tools.find(({ name }) => name === tool_name) ?? null,
      args,
      reason,
      deadline,
      signal,
    };
    const decision = await untilAborted((async () => handler(request))(), signal);
    await this.#post(toApproval(id, decision), signal);
  }

  /** A call that is decided already, or gone, needs nothing more. */
  async #post(body: Approval, signal: AbortSignal): Promise<void> {
    const path = { id: this.#options.sessionId };
    for (let failures = 1; ; failures += 1) {
      try {
        await this.#options.api.submitApprovals({ path, body, signal });
        return;
      } catch (error) {
        if (error instanceof APIError && (error.status === 409 || error.status === 404)) return;
        await pauseAfterOutage(failures, { error, signal });
      }
    }
  }
}

function toApproval(callId: string, given: PermissionDecision): Approval {
  const decision = typeof given === "string" ? { decision: given } : given;
  return JSON.parse(JSON.stringify({ call_id: callId, ...decision })) as Approval;
}
