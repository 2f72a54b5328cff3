// The client: the generated operations, and what is built on them.
import { TandemApi } from "./generated/sdk.gen.ts";
import { createHttpClient } from "./http.ts";
import { type RequestOptions, SessionHandle } from "./session-handle.ts";
import { type SessionOptions, toSessionRequest } from "./session-request.ts";
import type { DefaultAnswer, SessionResult } from "./session-result.ts";
import { type TandemClientOptions, toSettings } from "./settings.ts";
import type { WaitOptions } from "./wait-for-session.ts";

/** Options of {@link TandemClient.startSession}. */
export interface StartSessionOptions extends SessionOptions, RequestOptions {}

/** Options of {@link TandemClient.runSession}. */
export interface RunSessionOptions extends SessionOptions, WaitOptions {}

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
  constructor(options: TandemClientOptions = {}) {
    super({ client: createHttpClient(toSettings(options)) });
  }

  /**
   * Starts a session and waits until its turn is over; calls of `tools` run in this process, in parallel.
   *
   * A session that fails is a result, not an error: look at `status`.
   *
   * @throws {APIError} when the session cannot be created
   * @throws {TimeoutError} after `timeoutMs`; the session goes on, and the error has its `sessionId`
   * @example
   * const result = await client.runSession({
   *   agent: "tandem/assistant",
   *   messages: "What is the weather in Paris?",
   *   tools: [getWeather],
   * });
   * console.log(result.status, result.answer);
   */
  async runSession<Answer = DefaultAnswer>(options: RunSessionOptions): Promise<SessionResult<Answer>> {
    const session = await this.startSession(options);
    return session.waitForCompletion<Answer>(options);
  }

  /** Starts a session and gives its handle. Calls of `tools` run while `handle.waitForCompletion()` waits. */
  async startSession(options: StartSessionOptions): Promise<SessionHandle> {
    const { signal, tools = [], idempotencyKey } = options;
    const body = toSessionRequest(options);
    const { id } = await this.createSession({
      body,
      ...(signal ? { signal } : {}),
      ...(idempotencyKey === undefined ? {} : { headers: { "Idempotency-Key": idempotencyKey } }),
    });
    return new SessionHandle(id, { api: this, tools });
  }

  /** The handle of a session that exists. Makes no request. */
  session(id: string): SessionHandle {
    return new SessionHandle(id, { api: this });
  }
}
