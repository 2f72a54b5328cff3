// The claim of one call: taken before it runs, renewed while it does, and given up when somebody else is to run it.
import { openAbortScope, pause } from "./abort-scope.ts";
import { APIError, isOutage, TimeoutError } from "./errors.ts";
import type { TandemApi } from "./generated/sdk.gen.ts";
import { retryDelayMs } from "./retry.ts";

/** After so many failures the call is left to whoever can reach the server. */
const maxClaimFailures = 5;
/** Between two attempts to renew a claim there is at least this, in ms. */
const shortestRenewalMs = 50;

/** Why a claim holds no more: somebody else has the call, or nobody waits for its result. */
export type ClaimLoss = "taken" | "gone";

/** What {@link CallClaim} needs. */
export interface CallClaimOptions {
  api: TandemApi;
  sessionId: string;
  callId: string;
  claimant: string;
  leaseS: number;
  /** Called once, when a renewal says that the claim holds no more. */
  onLoss: (loss: ClaimLoss) => void;
  /** Called for each renewal that fails; it is tried again. */
  onError: (error: unknown) => void;
}

/** What a server's refusal means for a claim; null when it says nothing about the call. */
export function toClaimLoss(error: unknown): ClaimLoss | null {
  if (!(error instanceof APIError)) return null;
  if (error.status === 409) return error.code === "call_claimed" ? "taken" : "gone";
  return error.status === 404 ? "gone" : null;
}

/** One claim. Whoever takes it ends it by `release` or `leave`. */
export class CallClaim {
  readonly #options: CallClaimOptions;
  readonly #beats = openAbortScope({});
  #renewing: Promise<void> = Promise.resolve();

  constructor(options: CallClaimOptions) {
    this.#options = options;
  }

  /**
   * Takes the claim, and renews it from then on.
   *
   * @returns why the call is not to be had, or whether somebody may have run it before
   * @throws {TandemError} when the server refuses, or stays out of reach
   */
  async take(signal: AbortSignal): Promise<ClaimLoss | { mayHaveRun: boolean }> {
    const { claimant, leaseS } = this.#options;
    for (let failures = 0; ; ) {
      try {
        const { previous_claimant: previous } = await this.#claim(leaseS, signal);
        this.#renewing = this.#renew();
        // An attempt that had no reply may have arrived all the same.
        return { mayHaveRun: previous !== null && !(failures > 0 && previous === claimant) };
      } catch (error) {
        const loss = toClaimLoss(error);
        if (loss) return loss;
        failures += 1;
        if (signal.aborted || failures >= maxClaimFailures || !isOutage(error)) throw error;
        await pause(retryDelayMs(failures, error), signal);
      }
    }
  }

  /** Renews no more: the call is settled, or the claim shall lapse. */
  leave(): void {
    this.#beats.abort();
  }

  /** Gives the call back, so that another process may take it at once. When that fails, the claim lapses. */
  async release(signal: AbortSignal): Promise<void> {
    this.leave();
    // A renewal that is under way would take the call again.
    await this.#renewing;
    await this.#claim(0, signal).catch(() => {});
  }

  async #renew(): Promise<void> {
    const { leaseS, onLoss, onError } = this.#options;
    const { signal } = this.#beats;
    const halfMs = (leaseS * 1_000) / 2;
    for (let failures = 0, waitMs = halfMs; ; ) {
      await pause(waitMs, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#claim(leaseS);
        failures = 0;
        waitMs = halfMs;
      } catch (error) {
        if (signal.aborted) return;
        const loss = toClaimLoss(error);
        if (loss) return onLoss(loss);
        onError(error);
        failures += 1;
        waitMs = Math.max(shortestRenewalMs, Math.min(retryDelayMs(failures, error), halfMs / 2));
      }
    }
  }

  /** A reply that comes when the lease is over is worth nothing, so it is not waited for. */
  async #claim(leaseS: number, parent?: AbortSignal) {
    const { api, sessionId, callId, claimant } = this.#options;
    const timeoutMs = Math.max(1_000, (this.#options.leaseS * 1_000) / 3);
    const timeoutError = () => new TimeoutError(`Call ${callId} could not be claimed within ${timeoutMs} ms`);
    const scope = openAbortScope({ parent, timeoutMs, timeoutError });
    try {
      const path = { id: sessionId, call_id: callId };
      const body = { claimant, lease_s: leaseS };
      return await api.claimToolCall({ path, body, signal: scope.signal });
    } finally {
      scope.release();
    }
  }
}
