// The calls that a client runs, by session: all its handles and waits of one session share them.
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { Journal } from "./journal.ts";
import { ToolRuns } from "./tool-runs.ts";

/** Of so many sessions that nobody waits for undelivered results are kept; then the oldest are let go. */
const maxForsaken = 1_000;

/** Owned by the client. */
export class RunsOfSessions {
  readonly #source: { api: TandemApi; journal: Journal | null };
  /** The one that was used last is last. */
  readonly #runs = new Map<string, ToolRuns>();

  constructor(source: { api: TandemApi; journal: Journal | null }) {
    this.#source = source;
  }

  /** How many sessions something is kept of. */
  get size(): number {
    return this.#runs.size;
  }

  /** The calls of a session. To be released whatever happens. */
  use(sessionId: string): ToolRuns {
    const runs = this.#runs.get(sessionId) ?? new ToolRuns(sessionId, this.#source);
    this.#runs.delete(sessionId);
    this.#runs.set(sessionId, runs);
    return runs;
  }

  /** Keeps what a later wait needs; after a turn that is over there is nothing of that kind. */
  release(sessionId: string, { isOver }: { isOver: boolean }): void {
    const runs = this.#runs.get(sessionId);
    if (!runs || runs.isUsed) return;
    if (isOver || runs.isIdle) this.#runs.delete(sessionId);
    const forsaken = [...this.#runs].filter(([, { isUsed }]) => !isUsed);
    for (const [id] of forsaken.slice(0, Math.max(0, forsaken.length - maxForsaken))) this.#runs.delete(id);
  }
}
