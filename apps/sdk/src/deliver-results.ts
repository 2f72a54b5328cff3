// Results on their way to the server: kept until they have arrived, posted together with their siblings.
import { type AbortScope, openAbortScope, untilAborted } from "./abort-scope.ts";
import type { PostedResult } from "./call-tool.ts";
import { pauseAfterOutage } from "./outages.ts";
import { type PostBody, postResults } from "./post-results.ts";

/** How long a finished call waits for those that still run, so that they are posted together. */
const siblingWaitMs = 1_000;

/** What {@link DeliverResults} needs. */
export interface DeliveryOptions {
  post: (body: Parameters<PostBody>[0], signal: AbortSignal) => Promise<unknown>;
  /** What the calls that still run are waited for by; a rejection counts as an end. */
  siblings: () => Promise<void>[];
  onDelivered: (key: string) => void;
  /** Called when results cannot be delivered. They are kept. */
  onFailure: (error: unknown) => void;
}

/** Posts between `open` and `close`. */
export class DeliverResults {
  /** Results that the server does not have yet, by call. What a closed delivery leaves here, the next one posts. */
  readonly results = new Map<string, PostedResult>();
  readonly #options: DeliveryOptions;
  /** Calls that are settled, though a list that is under way may still name them. */
  readonly #delivered = new Set<string>();
  #scope: AbortScope | null = null;
  /** The keys of the latest list, in its order. */
  #order: string[] = [];
  #isDelivering = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  open(): void {
    this.#scope ??= openAbortScope({});
  }

  close(): void {
    this.#scope?.abort();
    this.#scope = null;
  }

  /** True for a call that has its result. */
  has(key: string): boolean {
    return this.results.has(key) || this.#delivered.has(key);
  }

  /** Says that nothing is to be done for a call any more. */
  settle(key: string): void {
    this.#delivered.add(key);
  }

  /** Takes over the keys of the pending calls, and gives those of the results that nobody waits for any more. */
  follow(keys: string[]): string[] {
    this.#order = keys;
    const open = new Set(keys);
    for (const key of this.#delivered) if (!open.has(key)) this.#delivered.delete(key);
    const late = [...this.results.keys()].filter((key) => !open.has(key));
    for (const key of late) this.results.delete(key);
    return late;
  }

  /** Posts what there is, unless that is under way. */
  deliver(): void {
    const scope = this.#scope;
    if (this.#isDelivering || this.results.size === 0 || !scope) return;
    this.#isDelivering = true;
    this.#postUntilEmpty(scope.signal)
      .catch((error: unknown) => {
        if (!scope.signal.aborted) this.#options.onFailure(error);
      })
      .finally(() => {
        // Another wait may have begun, while the post of the one before it was given up.
        if (scope !== this.#scope) this.deliver();
      });
  }

  async #postUntilEmpty(signal: AbortSignal): Promise<void> {
    try {
      for (let failures = 0; this.results.size > 0; ) {
        await this.#waitForSiblings(signal);
        failures = (await this.#tryToPost(failures, signal)) ? 0 : failures + 1;
      }
    } finally {
      // In the same breath as the last look at the results: one that comes now starts the next delivery.
      this.#isDelivering = false;
    }
  }

  /** Posts what there is. False when it failed in a way that passes, after a pause. */
  async #tryToPost(earlierFailures: number, signal: AbortSignal): Promise<boolean> {
    const batch = [...this.results].sort(([a], [b]) => this.#order.indexOf(a) - this.#order.indexOf(b));
    try {
      await postResults(
        (body) => this.#options.post(body, signal),
        batch.map(([, result]) => result),
      );
    } catch (error) {
      await pauseAfterOutage(earlierFailures + 1, { error, signal });
      return false;
    }
    for (const [key] of batch) {
      if (this.results.delete(key)) this.#delivered.add(key);
      this.#options.onDelivered(key);
    }
    return true;
  }

  async #waitForSiblings(parent: AbortSignal): Promise<void> {
    const scope = openAbortScope({ parent, timeoutMs: siblingWaitMs });
    await untilAborted(Promise.allSettled(this.#options.siblings()), scope.signal).catch(() => {});
    scope.release();
  }
}
