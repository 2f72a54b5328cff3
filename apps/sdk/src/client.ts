// The client: the generated operations, and what is built on them.
import { openAbortScope, untilAborted } from "./abort-scope.ts";
import { cancelQuietly } from "./cancel-session.ts";
import { TimeoutError } from "./errors.ts";
import { TandemApi } from "./generated/sdk.gen.ts";
import { createSend, openReply } from "./http.ts";
import { RunsOfSessions } from "./runs-of-sessions.ts";
import type { ToolSchema } from "./schemas/tool-schema.ts";
import { type RequestOptions, SessionHandle } from "./session-handle.ts";
import { type SessionOptions, toSessionRequest } from "./session-request.ts";
import type { AnswerOf, DefaultAnswer, SessionResult } from "./session-result.ts";
import type { SessionSource } from "./session-source.ts";
import { SessionStream, type StreamSessionOptions } from "./session-stream.ts";
import { type TandemClientOptions, toSettings } from "./settings.ts";
import type { WaitOptions } from "./wait-options.ts";

/** Options of {@link TandemClient.startSession}. */
export interface StartSessionOptions extends SessionOptions, RequestOptions {}

/** Options of {@link TandemClient.runSession}. */
export interface RunSessionOptions extends SessionOptions, WaitOptions {}

/** Options of {@link TandemClient.streamSession}. */
export interface StartStreamOptions extends SessionOptions, StreamSessionOptions {}

/** How a session is created for a wait. */
type CreationOptions = StartSessionOptions & Pick<WaitOptions, "cancelOnAbort" | "timeoutMs">;

/**
 * A client of one Tandem server. Its methods are the API's operations, by their names: each takes `path`, `query` and
 * `body`, gives the reply's data, and throws typed errors. `runSession` and `startSession` do the work of many.
 *
 * @throws {TandemError} when there is no API key
 * @example
 * const client = new TandemClient({ baseUrl: "http://127.0.0.1:3000", apiKey: "tdm_…" });
 * const { items } = await client.listSessions({ query: { status: ["running"] } });
 */
export class TandemClient extends TandemApi {
  readonly #source: SessionSource;

  constructor(options: TandemClientOptions = {}) {
    const settings = toSettings(options);
    super(createSend(settings));
    this.#source = {
      api: this,
      runs: new RunsOfSessions({ api: this, journal: settings.journal }),
      openReply: (operation) => openReply(operation, settings),
    };
  }

  /**
   * Starts a session and waits until its turn is over; calls of `tools` run in this process, in parallel.
   *
   * A session that fails is a result, not an error: look at `status`, or set `throwOnFailure`. The type of the answer
   * follows from `answerSchema`.
   *
   * @throws {APIError} when the session cannot be created
   * @throws {TimeoutError} after `timeoutMs`; the session goes on, and the error has its `sessionId`
   * @throws what `handle.waitForCompletion()` throws
   * @example
   * const result = await client.runSession({
   *   agent: "tandem/assistant",
   *   messages: "What is the weather in Paris?",
   *   tools: [getWeather],
   * });
   * console.log(result.status, result.answer);
   */
  runSession<const Schema extends ToolSchema>(
    options: RunSessionOptions & { answerSchema: Schema },
  ): Promise<SessionResult<AnswerOf<Schema>>>;
  /** The same, with the type of the answer named. */
  runSession<Answer = DefaultAnswer>(options: RunSessionOptions): Promise<SessionResult<Answer>>;
  async runSession(options: RunSessionOptions): Promise<SessionResult<unknown>> {
    const session = await this.#start<unknown>(options);
    return session.waitForCompletion(options as WaitOptions);
  }

  /** Starts a session and gives its handle. Calls of `tools` run while `handle.waitForCompletion()` waits. */
  startSession<const Schema extends ToolSchema>(
    options: StartSessionOptions & { answerSchema: Schema },
  ): Promise<SessionHandle<AnswerOf<Schema>>>;
  /** The same, with the type of the answer named. */
  startSession<Answer = DefaultAnswer>(options: StartSessionOptions): Promise<SessionHandle<Answer>>;
  startSession(options: StartSessionOptions): Promise<SessionHandle<unknown>> {
    return this.#start(options);
  }

  /**
   * Starts a session and streams it: the model's text too, from its first word. It returns at once; what goes wrong is
   * thrown in the loop, and by `result`.
   *
   * @example
   * const stream = client.streamSession({ agent: "tandem/assistant", messages: "Tell me a story." });
   * for await (const item of stream) if (item.type === "delta") process.stdout.write(item.text);
   */
  streamSession<const Schema extends ToolSchema>(
    options: StartStreamOptions & { answerSchema: Schema },
  ): SessionStream<AnswerOf<Schema>>;
  /** The same, with the type of the answer named. */
  streamSession<Answer = DefaultAnswer>(options: StartStreamOptions): SessionStream<Answer>;
  streamSession(options: StartStreamOptions): SessionStream<unknown> {
    const { deltas = true } = options;
    return new SessionStream({
      options,
      session: this.#start(deltas ? { stream: true, ...options } : options),
      wait: (session, options) => session.wait(options),
    });
  }

  /** The handle of a session that exists. Makes no request. */
  session(id: string): SessionHandle {
    return new SessionHandle(id, this.#source);
  }

  async #start<Answer>(options: CreationOptions): Promise<SessionHandle<Answer>> {
    const { tools, context, answerSchema } = options;
    const id = await this.#create(options);
    return new SessionHandle<Answer>(id, this.#source, { tools, context, answerSchema });
  }

  /** With `cancelOnAbort` a request that is under way is not given up: it may have made the session already. */
  async #create(options: CreationOptions): Promise<string> {
    const { signal, cancelOnAbort = false, idempotencyKey, timeoutMs } = options;
    const body = toSessionRequest(options);
    signal?.throwIfAborted();
    const scope = openAbortScope({
      parent: signal,
      timeoutMs,
      timeoutError: () => new TimeoutError(`The session was not created within ${timeoutMs} ms`),
    });
    const made = this.createSession({
      body,
      ...(cancelOnAbort ? {} : { signal: scope.signal }),
      ...(idempotencyKey === undefined ? {} : { headers: { "Idempotency-Key": idempotencyKey } }),
    }).then(({ id }) => id);
    try {
      return await untilAborted(made, scope.signal);
    } catch (error) {
      if (cancelOnAbort && signal?.aborted) await cancelQuietly(this, made);
      throw error;
    } finally {
      scope.release();
    }
  }
}
