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
  /** Sends a note to every other process, by the same way and in order with the wake-ups. It may be lost too. */
  send(note: string): void;
  /** {@link Wake.send}, to this process too. */
  broadcast(note: string): void;
  /** Calls back for every note of another process, and for those to all. Returns the way to stop. */
  receive(listener: (note: string) => void): () => void;
  /**
   * Calls back when the channel was opened anew: wake-ups of other processes may have been missed meanwhile. Returns the
   * way to stop.
   */
  onReopen(listener: () => void): () => void;
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

/** Most ids and notes in one message: with 75 bytes each they stay below the 8,000 of a Postgres notification. */
const MAX_ENTRIES_PER_MESSAGE = 100;

/** What tells a note from an id. Notes hold no comma. */
const NOTE_MARK = "!";

/** Makes a {@link Wake} over a transport. Listeners of this process hear at once, without the round trip. */
export function createWake(
  connect: (onMessage: (payload: string) => void, onReopen: () => void) => WakeTransport,
  log: Logger,
): Wake {
  // Those of one session are found by its id: a wake-up costs the same however many sessions are listened to.
  const listeners = new Map<string | undefined, Set<(sessionId: string) => void>>();
  const receivers = new Set<(note: string) => void>();
  const reopened = new Set<() => void>();
  const deliver = (ids: Iterable<string>) => {
    for (const id of ids) {
      for (const listener of listeners.get(undefined) ?? []) listener(id);
      for (const listener of listeners.get(id) ?? []) listener(id);
    }
  };
  // Our own messages come back to us; their listeners have heard already.
  const self = randomUUID().slice(0, 8);
  const receive = (payload: string) => {
    const [sender, ...entries] = payload.split(",");
    if (sender === self) return;
    for (const entry of entries) {
      if (!entry.startsWith(NOTE_MARK)) deliver([entry]);
      else for (const receiver of receivers) receiver(entry.slice(NOTE_MARK.length));
    }
  };
  const transport = connect(receive, () => {
    for (const listener of reopened) listener();
  });
  let outgoing = new Set<string>();
  let isFlushing: Promise<void> = Promise.resolve();

  const flush = async () => {
    const entries = [...outgoing];
    outgoing = new Set();
    for (let start = 0; start < entries.length; start += MAX_ENTRIES_PER_MESSAGE) {
      await transport
        .send([self, ...entries.slice(start, start + MAX_ENTRIES_PER_MESSAGE)].join(","))
        .catch((error: unknown) => {
          log.warn({ err: error }, "wake-ups were not sent; waiting clients find out at their next look");
        });
    }
  };
  const put = (entry: string) => {
    // Before the reads that this process itself is woken to: others are on their way meanwhile.
    if (outgoing.size === 0) process.nextTick(() => (isFlushing = isFlushing.then(flush)));
    outgoing.add(entry);
  };
  return {
    publish(sessionId) {
      deliver([sessionId]);
      put(sessionId);
    },
    subscribe(listener, sessionId) {
      const others = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, others.add(listener));
      return () => {
        others.delete(listener);
        if (others.size === 0 && listeners.get(sessionId) === others) listeners.delete(sessionId);
      };
    },
    send: (note) => put(`${NOTE_MARK}${note}`),
    broadcast(note) {
      for (const receiver of receivers) receiver(note);
      put(`${NOTE_MARK}${note}`);
    },
    receive(listener) {
      receivers.add(listener);
      return () => receivers.delete(listener);
    },
    onReopen(listener) {
      reopened.add(listener);
      return () => reopened.delete(listener);
    },
    ready: () => transport.ready(),
    async close() {
      await isFlushing.then(flush);
      await transport.close();
    },
  };
}
