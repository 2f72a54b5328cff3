// What is known of a call when its process has died: kept outside, so that the next process does not run it twice.
import { type PostedResult, toErrorEntry } from "./call-tool.ts";
import type { ToolRequest } from "./generated/types.gen.ts";
import type { Tool } from "./tool.ts";

/** What a journal holds of a call: that its handler was started, or what came of it. Plain JSON. */
export type JournalEntry = { state: "started" } | { state: "done"; result: PostedResult };

/**
 * Keeps entries by the call's key, which is `sessionId/callId`. `fileJournal` of `@tandem/sdk/node` is one; a table or a
 * key-value store makes another. A session's calls may be run by one process at a time, and by the next after its end.
 */
export interface Journal {
  /** The entry; null when there is none. One that cannot be read counts as `{ state: "started" }`. */
  read(key: string): Promise<JournalEntry | null>;
  /** Resolves when the entry would survive the end of the process. What it throws keeps the call from being started. */
  write(key: string, entry: JournalEntry): Promise<void>;
  /** Forgets the entry: the server has settled the call. */
  remove(key: string): Promise<void>;
}

/** True when a call whose handler was started, and came to no known end, may run once more. */
export function mayRunAgain(tool: Tool | undefined): boolean {
  return tool?.sideEffects !== "unsafe";
}

/** What the model is told of a call that may have taken effect, or not. */
export function toUnknownOutcome(call: ToolRequest): PostedResult {
  return toErrorEntry(
    call,
    `The outcome of this call of ${JSON.stringify(call.tool_name)} is unknown: its process stopped while it ran. ` +
      "It may or may not have taken effect. Check before trying again.",
  );
}

/** What is asked of a journal for one call. Without a journal, nothing is. */
export class CallRecord {
  readonly #journal: Journal | null;
  readonly #key: string;
  /** True once the handler may have run. */
  isStarted = false;
  /** What kept the handler from being started. */
  fault: unknown = null;

  constructor(journal: Journal | null, key: string) {
    this.#journal = journal;
    this.#key = key;
  }

  async read(): Promise<JournalEntry | null> {
    return (await this.#journal?.read(this.#key)) ?? null;
  }

  /** Whoever is told of an error has yet to look at `fault`. */
  async start(signal: AbortSignal): Promise<void> {
    try {
      await this.#journal?.write(this.#key, { state: "started" });
    } catch (error) {
      this.fault = error;
      throw error;
    }
    if (signal.aborted) await this.forget();
    else this.isStarted = true;
  }

  /** A result that could not be written is posted all the same; until then its outcome counts as unknown. */
  async finish(result: PostedResult): Promise<void> {
    try {
      await this.#journal?.write(this.#key, { state: "done", result });
    } catch {}
  }

  /** What is left behind is never read again: ids of calls are unique. */
  async forget(): Promise<void> {
    try {
      await this.#journal?.remove(this.#key);
    } catch {}
  }
}
