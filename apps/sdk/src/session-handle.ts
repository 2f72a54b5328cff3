// One session, as an object.
import type {
  Approval,
  ApprovalsReceipt,
  ListToolCallsData,
  NewSessionToken,
  PageStoredToolCall,
  Session,
  SessionChanges,
  SessionEvent,
  SessionStatus,
  SessionToken,
  SessionToolList,
  ShareLink,
} from "./generated/types.gen.ts";
import { type Message, toMessageBody } from "./messages.ts";
import type { ToolSchema } from "./schemas/tool-schema.ts";
import type { AnswerOf, DefaultAnswer, SessionResult } from "./session-result.ts";
import type { SessionSource } from "./session-source.ts";
import { SessionStream, type StreamSessionOptions } from "./session-stream.ts";
import { type ToolSource, toDefinitions } from "./tool-definitions.ts";
import { type ReadingOptions, type WaitState, waitForSession } from "./wait-for-session.ts";
import type { WaitOptions } from "./wait-options.ts";

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

/** Which page of calls, of what size, and of which state. Default: the first, of all. */
export type ToolCallsQuery = NonNullable<ListToolCallsData["query"]>;

/** What the waits of a handle begin with: what its session was started with. */
export type SessionDefaults = Pick<WaitOptions, "tools" | "context" | "answerSchema">;

/**
 * A session. Got from `client.startSession()` or `client.session(id)`.
 *
 * @example
 * const session = await client.startSession({ agent: "tandem/assistant", messages: "Hello" });
 * console.log((await session.waitForCompletion()).answer);
 * await session.sendMessage("And in French?");
 * console.log((await session.waitForCompletion()).answer);
 */
export class SessionHandle<Answer = DefaultAnswer> {
  /** The session's id. */
  readonly id: string;
  readonly #source: SessionSource;
  #defaults: SessionDefaults;
  readonly #state: WaitState = { cursor: 0 };

  /** Use `client.session(id)`. */
  constructor(id: string, source: SessionSource, defaults: SessionDefaults = {}) {
    this.id = id;
    this.#source = source;
    this.#defaults = defaults;
  }

  /** The session with its request. */
  get(options: RequestOptions = {}): Promise<Session> {
    return this.#source.api.getSession(this.#at(options));
  }

  /** The state alone. */
  status(options: RequestOptions = {}): Promise<SessionStatus> {
    return this.#source.api.getSessionStatus(this.#at(options));
  }

  /** One poll: the state with the events from `fromIndex` on; null when there is nothing new. */
  async changes(options: ChangesOptions = {}): Promise<SessionChanges | null> {
    const { fromIndex = 0, limit = null, includeEvents = true, waitForSeconds = 0 } = options;
    const changes = await this.#source.api.getSessionChanges({
      ...this.#at(options),
      query: {
        from_index: fromIndex,
        limit,
        include_events: includeEvents,
        wait_for_seconds: waitForSeconds,
      },
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
    await this.#source.api.sendMessage({ ...this.#at(options), body });
  }

  /** Pauses the session: at once, or when the step that runs is through. */
  async pause(options: RequestOptions = {}): Promise<void> {
    await this.#source.api.pauseSession(this.#at(options));
  }

  /** Resumes a paused session. */
  async resume(options: RequestOptions = {}): Promise<void> {
    await this.#source.api.resumeSession(this.#at(options));
  }

  /** Asks for an answer now: pending calls are withdrawn, and the next step has no tools. */
  async forceAnswer(options: RequestOptions = {}): Promise<void> {
    await this.#source.api.forceAnswer(this.#at(options));
  }

  /** Cancels the session. Cancelling again changes nothing. */
  async cancel(options: RequestOptions = {}): Promise<void> {
    await this.#source.api.cancelSession(this.#at(options));
  }

  /** Decides on calls that wait for an approval, when no `onPermissionRequest` does. */
  decide(decisions: Approval | readonly Approval[], options: RequestOptions = {}): Promise<ApprovalsReceipt> {
    const body = { type: "batch", approvals: [decisions].flat() as Approval[] } as const;
    return this.#source.api.submitApprovals({ ...this.#at(options), body });
  }

  /** A page of the session's calls, each with what became of it. */
  listToolCalls(query: ToolCallsQuery = {}, options: RequestOptions = {}): Promise<PageStoredToolCall> {
    return this.#source.api.listToolCalls({ ...this.#at(options), query });
  }

  /** What the model is offered at the next step, and what it is not. */
  listTools(options: RequestOptions = {}): Promise<SessionToolList> {
    return this.#source.api.listSessionTools(this.#at(options));
  }

  /**
   * Replaces the tools that the session has from its caller, between turns. Waits of this handle that begin from now on
   * run them.
   *
   * @throws {APIError} 409 while calls are open
   */
  async replaceTools(tools: readonly ToolSource[], options: RequestOptions = {}): Promise<SessionToolList> {
    const body = { tools: toDefinitions(tools) };
    const list = await this.#source.api.replaceSessionTools({ ...this.#at(options), body });
    this.#defaults = { ...this.#defaults, tools };
    return list;
  }

  /** Makes a token that reads this session and answers its calls, for a browser for example. */
  createToken(token: NewSessionToken, options: RequestOptions = {}): Promise<SessionToken> {
    return this.#source.api.createSessionToken({ ...this.#at(options), body: token });
  }

  /** Makes a link with which anybody can read the session. */
  share(options: RequestOptions = {}): Promise<ShareLink> {
    return this.#source.api.shareSession(this.#at(options));
  }

  /** Ends that link. */
  async unshare(options: RequestOptions = {}): Promise<void> {
    await this.#source.api.unshareSession(this.#at(options));
  }

  /**
   * Waits until the turn is over, and runs the calls for this side. It can join a session midway, and after a wait that
   * ended early it can be called again. A turn that is over already gives its result at once.
   *
   * `tools`, `context` and `answerSchema` default to those given to `startSession`. A call is run once, however many
   * waits this client has for the session, and its result is posted until it has arrived.
   *
   * @throws {TimeoutError} after `timeoutMs`; the session goes on
   * @throws {PermissionRequiredError} when the session waits for an approval, and nobody here decides
   * @throws {GuardrailError} when a guardrail ends the run; the session is cancelled
   * @throws {AnswerValidationError} when the answer does not fit `answerSchema`
   * @throws {SessionFailedError} with `throwOnFailure`, when the session does not come to a good end
   */
  waitForCompletion<const Schema extends ToolSchema>(
    options: WaitOptions & { answerSchema: Schema },
  ): Promise<SessionResult<AnswerOf<Schema>>>;
  /** The same, with the type of the answer named, or that of the handle. */
  waitForCompletion<A = Answer>(options?: WaitOptions): Promise<SessionResult<A>>;
  waitForCompletion(options: WaitOptions = {}): Promise<SessionResult<unknown>> {
    return this.wait(options);
  }

  /**
   * Waits in the same way, and gives every event and the model's text as they come, from the turn's beginning. Where
   * the server, or a proxy, does not stream, events come by polls, and the text of a step at once.
   *
   * @example
   * const stream = session.stream();
   * for await (const item of stream) if (item.type === "delta") process.stdout.write(item.text);
   * console.log((await stream.result).answer);
   */
  stream<const Schema extends ToolSchema>(
    options: StreamSessionOptions & { answerSchema: Schema },
  ): SessionStream<AnswerOf<Schema>>;
  /** The same, with the type of the answer named, or that of the handle. */
  stream<A = Answer>(options?: StreamSessionOptions): SessionStream<A>;
  stream(options: StreamSessionOptions = {}): SessionStream<unknown> {
    return new SessionStream<unknown>({
      options,
      session: Promise.resolve(this),
      wait: (session, options) => session.wait(options),
    });
  }

  /** @internal What `waitForCompletion` and `stream` are made of. */
  wait<A>(options: ReadingOptions): Promise<SessionResult<A>> {
    const { tools, context, answerSchema } = this.#defaults;
    return waitForSession<A>(
      { source: this.#source, sessionId: this.id, state: this.#state },
      {
        ...options,
        tools: options.tools ?? tools,
        context: options.context ?? context,
        answerSchema: options.answerSchema ?? answerSchema,
      },
    );
  }

  #at({ signal }: RequestOptions) {
    return { path: { id: this.id }, signal: signal ?? null };
  }
}
