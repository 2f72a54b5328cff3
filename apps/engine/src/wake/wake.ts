// Wake-ups: telling every process that sessions have changed. They carry ids and may be lost; whoever waits reads before
// it waits and again after, so a lost one costs time, never data. So do notes between processes, which travel with them.
// What is told beside both is lost for good.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";

/** Sends and receives wake-ups of one process. */
export interface Wake {
  /** Tells every process that these sessions changed. Never throws; ids that are told in one go travel together. */
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
   * Tells every process, this one's own listeners at once, what nobody depends on. It goes in order with the wake-ups, and
   * is dropped while much waits to be sent. It holds no comma, and at most {@link MAX_TOLD_BYTES}.
   */
  tell(text: string): void;
  /** Calls back for all that is told. Returns the way to stop. */
  hear(listener: (text: string) => void): () => void;
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

/** Most bytes of one message: a Postgres notification holds fewer than 8,000. */
const MAX_MESSAGE_BYTES = 7_900;

/** Most bytes of one text that is told. */
export const MAX_TOLD_BYTES = 7_500;

/** Most characters that are told and not sent yet; more are dropped, as while the channel is out of reach. */
const MAX_UNSENT_CHARACTERS = 256 * 1024;

/** What tells a note from an id, and what is told from both. They hold no comma. */
const NOTE_MARK = "!";
const TOLD_MARK = "~";

/** Makes a {@link Wake} over a transport. Listeners of this process hear at once, without the round trip. */
export function createWake(
  connect: (onMessage: (payload: string) => void, onReopen: () => void) => WakeTransport,
  log: Logger,
): Wake {
  // Those of one session are found by its id: a wake-up costs the same however many sessions are listened to.
  const listeners = new Map<string | undefined, Set<(sessionId: string) => void>>();
  const receivers = new Set<(note: string) => void>();
  const hearers = new Set<(text: string) => void>();
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
      const isTold = entry.startsWith(TOLD_MARK);
      if (!isTold && !entry.startsWith(NOTE_MARK)) deliver([entry]);
      else for (const receiver of isTold ? hearers : receivers) receiver(entry.slice(NOTE_MARK.length));
    }
  };
  const transport = connect(receive, () => {
    for (const listener of reopened) listener();
  });
  let outgoing = new Set<string>();
  let unsentCharacters = 0;
  let isFlushing: Promise<void> = Promise.resolve();

  const flush = async () => {
    const entries = [...outgoing];
    outgoing = new Set();
    unsentCharacters = 0;
    for (const message of toMessages(self, entries)) {
      await transport.send(message).catch((error: unknown) => {
        log.warn({ err: error }, "wake-ups were not sent; waiting clients find out at their next look");
      });
    }
  };
  const put = (entry: string) => {
    // Soon, before the reply to whoever asked and the reads that this process itself is woken to: others are on their way
    // meanwhile. While something is being sent, more gathers.
    if (outgoing.size === 0) isFlushing = isFlushing.then(flush);
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
    tell(text) {
      for (const hearer of hearers) hearer(text);
      if (unsentCharacters + text.length > MAX_UNSENT_CHARACTERS) return;
      unsentCharacters += text.length;
      put(`${TOLD_MARK}${text}`);
    },
    hear(listener) {
      hearers.add(listener);
      return () => hearers.delete(listener);
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

/** Entries in order, in as few messages as hold them. */
function* toMessages(sender: string, entries: readonly string[]): Generator<string> {
  let message = sender;
  let bytes = sender.length;
  for (const entry of entries) {
    const entryBytes = Buffer.byteLength(entry) + 1;
    if (bytes + entryBytes > MAX_MESSAGE_BYTES && bytes > sender.length) {
      yield message;
      message = sender;
      bytes = sender.length;
    }
    message += `,${entry}`;
    bytes += entryBytes;
  }
  if (bytes > sender.length) yield message;
}
