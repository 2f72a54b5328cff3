// BullMQ's parts on Postgres look once whether its tables are there. One whose connection breaks meanwhile remembers that
// for good: whatever it is asked fails, and a worker asks again and again without giving timers their turn. So a part is
// used once it has seen the tables, and made anew until one has.
import { setTimeout as delay } from "node:timers/promises";

/** A queue or a worker of BullMQ. */
interface Part {
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/** A part that is being opened, or is open. */
export interface Opening<P> {
  /** Resolves when it can be used; rejects when it was closed before that. */
  ready: Promise<P>;
  /** Closes it, or gives up opening it. */
  close(): Promise<void>;
}

/** How long to wait before a part is made anew, in milliseconds. */
const RETRY_MS = 250;

/** Makes a part, until one is ready. */
export function openUntilReady<P extends Part>(make: () => P): Opening<P> {
  const closing = new AbortController();
  let part = make();
  const open = async (): Promise<P> => {
    for (;;) {
      const isReady = await part.waitUntilReady().then(
        () => true,
        () => false,
      );
      closing.signal.throwIfAborted();
      if (isReady) return part;
      await part.close();
      await delay(RETRY_MS, undefined, { signal: closing.signal });
      part = make();
    }
  };
  const ready = open();
  ready.catch(() => undefined);
  return {
    ready,
    async close() {
      closing.abort();
      await part.close();
    },
  };
}
