// Wake-ups: telling every process that sessions have changed. They carry ids only and may be lost; whoever waits
// reads before it waits and again after, so a lost one costs time, never data.
import type { Logger } from "pino";

/** Sends and receives wake-ups of one process. */
export interface Wake {
  /** Tells every process that these sessions changed. Never throws; ids of one turn of the event loop go together. */
  publish(sessionId: string): void;
  /** Calls back for every wake-up, this process's own included. Returns the way to stop. */
  subscribe(listener: (sessionId: string) => void): () => void;
  /** Resolves when wake-ups of other processes arrive; rejects when the channel is out of reach. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** The way that wake-ups travel between processes. */
export interface WakeTransport {
  send(sessionIds: string[]): Promise<void>;
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Most ids in one message: 100 UUIDs stay below half of the 8,000 bytes of a Postgres notification. */
export const MAX_IDS_PER_MESSAGE = 100;

/** Makes a {@link Wake} over a transport. Listeners of this process hear at once, without the round trip. */
export function createWake(
  connect: (onMessage: (sessionIds: string[]) => void) => WakeTransport,
  log: Logger,
): Wake {
  const listeners = new Set<(sessionId: string) => void>();
  const deliver = (ids: Iterable<string>) => {
    for (const id of ids) for (const listener of listeners) listener(id);
  };
  const transport = connect(deliver);
  let outgoing = new Set<string>();
  let isFlushing: Promise<void> = Promise.resolve();

  const flush = async () => {
    const ids = [...outgoing];
    outgoing = new Set();
    for (let start = 0; start < ids.length; start += MAX_IDS_PER_MESSAGE) {
      await transport.send(ids.slice(start, start + MAX_IDS_PER_MESSAGE)).catch((error: unknown) => {
        log.warn({ err: error }, "wake-ups were not sent; waiting clients find out at their next look");
      });
    }
  };
  return {
    publish(sessionId) {
      deliver([sessionId]);
      if (outgoing.size === 0) setImmediate(() => (isFlushing = isFlushing.then(flush)));
      outgoing.add(sessionId);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ready: () => transport.ready(),
    async close() {
      await isFlushing.then(flush);
      await transport.close();
    },
  };
}
