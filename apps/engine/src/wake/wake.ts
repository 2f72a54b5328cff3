// Wake-ups: telling every process that sessions have changed. They carry ids only and may be lost; whoever waits
// reads before it waits and again after, so a lost one costs time, never data.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";

/** Sends and receives wake-ups of one process. */
export interface Wake {
  /** Tells every process that these sessions changed. Never throws; ids of one turn of the event loop go together. */
  publish(sessionId: string): void;
  /**
   * Calls back for every wake-up, this process's own included, or for those of one session. Returns the way to stop.
   */
  subscribe(listener: (sessionId: string) => void, sessionId?: string): () => void;
  /** Resolves when wake-ups of other processes arrive; rejects when the channel is out of reach. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** The way that wake-ups travel between processes. */
export interface WakeTransport {
  send(payload: string): Promise<void>;
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Most ids in one message: 100 UUIDs stay below half of the 8,000 bytes of a Postgres notification. */
const MAX_IDS_PER_MESSAGE = 100;

/** Makes a {@link Wake} over a transport. Listeners of this process hear at once, without the round trip. */
export function createWake(
  connect: (onMessage: (payload: string) => void) => WakeTransport,
  log: Logger,
): Wake {
  // Those of one session are found by its id: a wake-up costs the same however many sessions are listened to.
  const listeners = new Map<string | undefined, Set<(sessionId: string) => void>>();
  const deliver = (ids: Iterable<string>) => {
    for (const id of ids) {
      for (const listener of listeners.get(undefined) ?? []) listener(id);
      for (const listener of listeners.get(id) ?? []) listener(id);
    }
  };
  // Our own messages come back to us; their listeners have heard already.
  const self = randomUUID().slice(0, 8);
  const transport = connect((payload) => {
    const [sender, ...ids] = payload.split(",");
    if (sender !== self) deliver(ids);
  });
  let outgoing = new Set<string>();
  let isFlushing: Promise<void> = Promise.resolve();

  const flush = async () => {
    const ids = [...outgoing];
    outgoing = new Set();
    for (let start = 0; start < ids.length; start += MAX_IDS_PER_MESSAGE) {
      await transport
        .send([self, ...ids.slice(start, start + MAX_IDS_PER_MESSAGE)].join(","))
        .catch((error: unknown) => {
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
    subscribe(listener, sessionId) {
      const others = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, others.add(listener));
      return () => {
        others.delete(listener);
        if (others.size === 0 && listeners.get(sessionId) === others) listeners.delete(sessionId);
      };
    },
    ready: () => transport.ready(),
    async close() {
      await isFlushing.then(flush);
      await transport.close();
    },
  };
}
