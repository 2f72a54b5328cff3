// How many calls of one run may run at a time: in all, and of each tool. They are let in by the order they came.
import { openAbortScope, untilAborted } from "./abort-scope.ts";
import { TandemError } from "./errors.ts";
import type { Tool } from "./tool.ts";

/** Lets so many in at a time. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot; throws the signal's reason when that is aborted first. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    const scope = openAbortScope({ parent: signal });
    const turn = new Promise<void>((resolve) => this.#waiting.push(resolve));
    const enter = this.#waiting.at(-1);
    this.#letIn();
    try {
      await untilAborted(turn, scope.signal);
      return () => this.#release();
    } catch (error) {
      // One that was let in in the same breath gives its slot back; one that waits leaves the line.
      const place = enter ? this.#waiting.indexOf(enter) : -1;
      if (place === -1) this.#release();
      else this.#waiting.splice(place, 1);
      throw error;
    } finally {
      scope.release();
    }
  }

  #release(): void {
    this.#free += 1;
    this.#letIn();
  }

  #letIn(): void {
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free -= 1;
      this.#waiting.shift()?.();
    }
  }
}

/** The slots of one run. */
export class RunSlots {
  readonly #ofRun: Slots;
  readonly #ofTools = new Map<Tool, Slots>();

  constructor(maxConcurrency: number | undefined) {
    this.#ofRun = new Slots(toCount(maxConcurrency));
  }

  /**
   * Waits until a call may run, and gives what is to be called when it is over. The tool's slot comes first: a call that
   * waits for its tool takes no slot of the run from calls of others.
   */
  async acquire(tool: Tool | undefined, signal: AbortSignal): Promise<() => void> {
    const releaseTool = tool ? await this.#slotsOf(tool).acquire(signal) : () => {};
    try {
      const releaseRun = await this.#ofRun.acquire(signal);
      return () => {
        releaseRun();
        releaseTool();
      };
    } catch (error) {
      releaseTool();
      throw error;
    }
  }

  #slotsOf(tool: Tool): Slots {
    const slots = this.#ofTools.get(tool) ?? new Slots(toCount(tool.maxConcurrency));
    this.#ofTools.set(tool, slots);
    return slots;
  }
}

function toCount(maxConcurrency = Number.POSITIVE_INFINITY): number {
  if (maxConcurrency >= 1) return maxConcurrency;
  throw new TandemError(`maxConcurrency must be at least 1, not ${maxConcurrency}`);
}
