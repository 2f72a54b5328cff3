// One session, as an object.
import type { TandemApi } from "./generated/sdk.gen.ts";
import type { Session, SessionChanges, SessionEvent, SessionStatus } from "./generated/types.gen.ts";
import { type Message, toMessageBody } from "./messages.ts";
import type { DefaultAnswer, SessionResult } from "./session-result.ts";
import type { ToolSource } from "./tool-definitions.ts";
import { type WaitOptions, type WaitState, waitForSession } from "./wait-for-session.ts";

/** Options of a single request. */
export interface RequestOptions {
  /** Aborts the request. */
  signal?: AbortSignal | undefined;
}

/** Options of {@link SessionHandle.changes}. */
export interface ChangesOptions extends RequestOptions {
  /** The cursor: the number of events already seen. Default: 0. */
  fromIndex?: number | undefined;
  /** Most events to return. Default: all. */
  limit?: number | undefined;
  /** False gives the state without the events. Default: true. */
  includeEvents?: boolean | undefined;
  /** How long to wait when there is nothing new, in seconds, 0 to 25. Default: 0. */
  waitForSeconds?: number | undefined;
}

/**
 * A session. Got from `client.startSession()` or `client.session(id)`.
 *
 * @example
 * const session = await client.startSession({ agent: "tandem/assistant", messages: "Hello" });
 * console.log((await session.waitForCompletion()).answer);
 * await session.sendMessage("And in French?");
 * console.log((await session.waitForCompletion()).answer);
 */
export class SessionHandle {
  /** The session's id. */
  readonly id: string;
  readonly #api: TandemApi;
  readonly #tools: readonly ToolSource[];
  readonly #state: WaitState = { cursor: 0, results: new Map() };

  /** Use `client.session(id)`. */
  constructor(id: string, source: { api: TandemApi; tools?: readonly ToolSource[] }) {
    this.id = id;
    this.#api = source.api;
    this.#tools = source.tools ?? [];
  }

  /** The session with its request. */
  get(options: RequestOptions = {}): Promise<Session> {
    return this.#api.getSession({ path: { id: this.id }, ...toFetchOptions(options) });
  }

  /** The state alone. */
  status(options: RequestOptions = {}): Promise<SessionStatus> {
    return this.#api.getSessionStatus({ path: { id: this.id }, ...toFetchOptions(options) });
  }

  /** One poll: the state with the events from `fromIndex` on; null when there is nothing new. */
  async changes(options: ChangesOptions = {}): Promise<SessionChanges | null> {
    const { fromIndex = 0, limit = null, includeEvents = true, waitForSeconds = 0 } = options;
    const changes = await this.#api.getSessionChanges({
      path: { id: this.id },
      query: {
        from_index: fromIndex,
        limit,
        include_events: includeEvents,
        wait_for_seconds: waitForSeconds,
      },
      ...toFetchOptions(options),
    });
    return changes ?? null;
  }

  /** Every event so far. */
  async events(options: RequestOptions = {}): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    for (;;) {
      const changes = await this.changes({ ...options, fromIndex: events.length });
      if (!changes) return events;
      for (const event of changes.new_events) events.push(event);
      if (!changes.has_more) return events;
    }
  }

  /**
   * Sends a message, or several that are taken up together. A session that has ended starts again with its whole
   * history; `waitForCompletion` then waits for the new answer.
   */
  async sendMessage(messages: Message | readonly Message[], options: RequestOptions = {}): Promise<void> {
    const body = toMessageBody(messages);
    await this.#api.sendMessage({ path: { id: this.id }, body, ...toFetchOptions(options) });
  }

  /** Pauses the session: at once, or when the step that runs is through. */
  async pause(options: RequestOptions = {}): Promise<void> {
    await this.#api.pauseSession({ path: { id: this.id }, ...toFetchOptions(options) });
  }

  /** Resumes a paused session. */
  async resume(options: RequestOptions = {}): Promise<void> {
    await this.#api.resumeSession({ path: { id: this.id }, ...toFetchOptions(options) });
  }

  /** Asks for an answer now: pending calls are withdrawn, and the next step has no tools. */
  async forceAnswer(options: RequestOptions = {}): Promise<void> {
    await this.#api.forceAnswer({ path: { id: this.id }, ...toFetchOptions(options) });
  }

  /** Cancels the session. Cancelling again changes nothing. */
  async cancel(options: RequestOptions = {}): Promise<void> {
    await this.#api.cancelSession({ path: { id: this.id }, ...toFetchOptions(options) });
  }

  /**
   * Waits until the turn is over, and runs the calls for this side. It can join a session midway, and after a wait that
   * ended early it can be called again. A turn that is over already gives its result at once.
   *
   * `tools` defaults to those given to `startSession`.
   *
   * @throws {TimeoutError} after `timeoutMs`; the session goes on
   */
  waitForCompletion<Answer = DefaultAnswer>(options: WaitOptions = {}): Promise<SessionResult<Answer>> {
    return waitForSession(
      { api: this.#api, sessionId: this.id, state: this.#state },
      { ...options, tools: options.tools ?? this.#tools },
    );
  }
}

function toFetchOptions({ signal }: RequestOptions): { signal: AbortSignal } | Record<never, never> {
  return signal ? { signal } : {};
}
