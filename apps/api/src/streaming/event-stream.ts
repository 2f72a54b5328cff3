// The body of a stream: text that is written as far as the client takes it.
import { Readable } from "node:stream";

/** About how much is held for a client that takes nothing, in bytes, besides what its connection holds. */
const HELD_BYTES = 64 * 1024;

/** A reply's body that is written bit by bit. */
export interface EventStream {
  readonly body: Readable;
  /** False while the client takes nothing and enough is held for it: what is written then is held too. */
  readonly hasRoom: boolean;
  /** True when nothing can be written any more. */
  readonly isOver: boolean;
  write(frame: string): void;
  /** Resolves when there is room, or when the stream is over. */
  room(): Promise<void>;
  /** Ends it in good order: behind what was written. */
  end(): void;
  /** Ends it at once. */
  abort(): void;
}

/**
 * Makes a body.
 *
 * @param options.slowMs how long the client may take nothing, in milliseconds, before `onSlow` is called
 */
export function createEventStream(options: { slowMs: number; onSlow: () => void }): EventStream {
  let hasRoom = true;
  let isOver = false;
  let slow: NodeJS.Timeout | undefined;
  let waiting: (() => void)[] = [];
  const release = () => {
    const released = waiting;
    waiting = [];
    for (const resolve of released) resolve();
  };
  const body = new Readable({
    highWaterMark: HELD_BYTES,
    read() {
      clearTimeout(slow);
      hasRoom = true;
      release();
    },
    destroy(error, done) {
      clearTimeout(slow);
      isOver = true;
      release();
      done(error);
    },
  });
  return {
    body,
    get hasRoom() {
      return hasRoom;
    },
    get isOver() {
      return isOver;
    },
    write(frame) {
      if (isOver || body.push(frame)) return;
      if (hasRoom) slow = setTimeout(options.onSlow, options.slowMs);
      hasRoom = false;
    },
    async room() {
      if (hasRoom || isOver) return;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    },
    end() {
      if (isOver) return;
      isOver = true;
      body.push(null);
      release();
    },
    abort: () => void body.destroy(),
  };
}
