// Plain HTTP against a stack, as somebody with curl would do it, and the session shapes that tests look at.
import { waitFor } from "./wait-for.ts";

/** A reply, body parsed when there is one. */
export interface WireReply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  body: any;
  /** The body as it came, to the last digit. */
  text: string;
}

export interface WireOptions {
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  text?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Sends requests with one key. */
export interface Wire {
  baseUrl: string;
  send(method: string, path: string, options?: WireOptions): Promise<WireReply>;
  get(path: string): Promise<WireReply>;
  post(path: string, body: unknown): Promise<WireReply>;
  /** Creates a session and returns its id. */
  create(request: unknown): Promise<string>;
  /** Waits until the session has one of these states; returns the changes from index 0 on. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  until(sessionId: string, ...statuses: string[]): Promise<any>;
  /** The calls that wait, by the latest event that lists them. */
  pending(sessionId: string): Promise<PendingCall[]>;
}

export interface PendingCall {
  tool_name: string;
  args: Record<string, unknown>;
  id: string;
}

export function createWire(baseUrl: string, apiKey: string): Wire {
  const send = async (method: string, path: string, options: WireOptions = {}): Promise<WireReply> => {
    const body = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(
      `${baseUrl}${path.startsWith("/api") || path.startsWith("//") ? path.replace("//", "/") : `/api/v2${path}`}`,
      {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(options.signal ? { signal: options.signal } : {}),
      },
    );
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
    const { status, headers } = response;
    return { status, headers, body: isJson ? JSON.parse(text) : text, text };
  };
  const get = (path: string) => send("GET", path);
  const post = (path: string, body: unknown) => send("POST", path, { body });
  const changes = async (sessionId: string) => (await get(`/sessions/${sessionId}/changes`)).body;
  return {
    baseUrl,
    send,
    get,
    post,
    async create(request) {
      const reply = await post("/sessions", request);
      if (reply.status !== 201)
        throw new Error(`create answered ${reply.status}: ${JSON.stringify(reply.body)}`);
      return reply.body.id;
    },
    until: (sessionId, ...statuses) =>
      waitFor(
        async () => {
          const seen = await changes(sessionId);
          return statuses.includes(seen.status) && seen;
        },
        { what: `session ${sessionId} to be ${statuses.join(" or ")}`, timeoutMs: 20_000 },
      ),
    async pending(sessionId) {
      const { new_events: events } = await changes(sessionId);
      const last = events.findLast((event: { type: string }) => event.type === "ActiveStateChangeEvent");
      return last?.data.pending_tool_calls ?? [];
    },
  };
}

/** A tool definition that takes anything of these fields. */
export const weatherTool = {
  name: "get_weather",
  description: "The weather of a city.",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

/** A result for a call, as a client posts it. */
export const resultFor = (call: PendingCall, result: unknown) => ({
  kind: "tool_result",
  tool_req: call,
  result,
});

/** The types of events, with the kind of an `AgentEvent` in place of its type. */
export const kindsOf = (events: { type: string; data: { kind?: string } }[]): string[] =>
  events.map((event) => event.data.kind ?? event.type);
