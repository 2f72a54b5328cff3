// A session's events and text as they come, for `for await`.
import { openAbortScope } from "./abort-scope.ts";
import { TandemError } from "./errors.ts";
import type { SessionEvent } from "./generated/types.gen.ts";
import type { SessionHandle } from "./session-handle.ts";
import type { SessionResult } from "./session-result.ts";
import type { StreamDelta } from "./stream-deltas.ts";
import type { ReadingOptions } from "./wait-for-session.ts";
import type { WaitOptions } from "./wait-options.ts";

/** So many items wait for a slow loop; then reading waits too. */
const maxWaiting = 1_000;

/** How to stream. */
export interface StreamSessionOptions extends WaitOptions {
  /** False leaves the model's text out. Default: true. */
  deltas?: boolean | undefined;
}

/** What a stream gives: events, as `type` tells them apart, and the model's text as it is written. */
export type StreamItem = SessionEvent | StreamDelta;

/** What a stream is made of: a session, and how one waits for it. */
export interface StreamPlan<Answer> {
  options: StreamSessionOptions;
  session: Promise<SessionHandle<Answer>>;
  wait: (session: SessionHandle<Answer>, options: ReadingOptions) => Promise<SessionResult<Answer>>;
}

/**
 * A wait that can be looped over, once. It begins at once, runs tools like any other wait, and goes on without a loop
 * too. Leaving the loop early ends the wait, and aborts the tools that run; the session goes on, unless `cancelOnAbort`
 * is set.
 */
export class SessionStream<Answer> implements AsyncIterable<StreamItem> {
  /** The session's handle. */
  readonly session: Promise<SessionHandle<Answer>>;
  /** The result of the turn. It rejects with what ended the wait; when nobody looks, that is no unhandled rejection. */
  readonly result: Promise<SessionResult<Answer>>;
  readonly #scope: ReturnType<typeof openAbortScope>;
  readonly #items: StreamItem[] = [];
  #isLooped = false;
  #isOver = false;
  /** Wakes the side that waits for the other: a loop for items, or reading for room. */
  #wake = () => {};

  /** Use `session.stream()` or `client.streamSession()`. */
  constructor({ options, session, wait }: StreamPlan<Answer>) {
    this.#scope = openAbortScope({ parent: options.signal });
    this.session = session;
    this.result = this.#read(options, wait).finally(() => {
      this.#isOver = true;
      this.#scope.release();
      this.#wake();
    });
    session.catch(() => {});
    this.result.catch(() => {});
  }

  /** @throws what ends the wait; a second loop throws a {@link TandemError} */
  async *[Symbol.asyncIterator](): AsyncGenerator<StreamItem, void> {
    if (this.#isLooped) throw new TandemError("A stream can be looped over once");
    this.#isLooped = true;
    try {
      while (true) {
        const item = this.#items.shift();
        this.#wake();
        if (item) yield item;
        else if (this.#isOver) break;
        else await this.#changed();
      }
      await this.result;
    } finally {
      this.#items.length = 0;
      this.#scope.abort(new TandemError("The loop over the stream was left before its end"));
      await this.result.catch(() => {});
    }
  }

  async #read(
    options: StreamSessionOptions,
    wait: StreamPlan<Answer>["wait"],
  ): Promise<SessionResult<Answer>> {
    const { deltas = true, onEvent, ...rest } = options;
    return wait(await this.session, {
      ...rest,
      signal: this.#scope.signal,
      onDelta: (delta) => (deltas ? this.#add(delta) : undefined),
      onEvent: async (event) => {
        await onEvent?.(event);
        await this.#add(event);
      },
    });
  }

  /** Without a loop events are kept, as the result keeps them too, and text only as much as there is room for. */
  async #add(item: StreamItem): Promise<void> {
    const isFull = () => this.#items.length >= maxWaiting;
    if (isFull() && !this.#isLooped && item.type === "delta") return;
    while (isFull() && this.#isLooped && !this.#scope.signal.aborted) await this.#changed();
    this.#items.push(item);
    this.#wake();
  }

  async #changed(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
