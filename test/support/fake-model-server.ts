// A model provider that says what a test's script tells it to, over OpenAI's chat completions wire.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type CompletionReply, writeCompletion, writeCompletionStream } from "./fake-model-wire.ts";

export interface ChatMessage {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content?: unknown;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface ChatRequestBody {
  model: string;
  messages: ChatMessage[];
  tools?: { type: "function"; function: { name: string; description?: string; parameters?: unknown } }[];
  tool_choice?: unknown;
  response_format?: unknown;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  [name: string]: unknown;
}

/** One request as it came in. */
export interface ParsedChatRequest {
  body: ChatRequestBody;
  headers: IncomingHttpHeaders;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Becomes true when the client goes away before it has the whole answer. */
  aborted: boolean;
}

/** What the model does with one request. */
export type Reply = { delayMs?: number } & (
  | CompletionReply
  | { status: number; body: unknown; headers?: Record<string, string> }
  | { hang: true }
);

export type ModelScript = (request: ParsedChatRequest, index: number) => Reply | Promise<Reply>;

export interface FakeModel {
  /** What a client takes as its base URL: it ends in `/v1`. */
  baseUrl: string;
  /** Every request so far, in the order they came. */
  requests: ParsedChatRequest[];
  close(): Promise<void>;
}

/**
 * Starts a fake model on a free port.
 *
 * @example const model = await startFakeModel(() => ({ text: "Hello." }));
 */
export async function startFakeModel(script: ModelScript): Promise<FakeModel> {
  const requests: ParsedChatRequest[] = [];
  const server = createServer((request, response) => {
    answer({ request, response, requests, script }).catch((error: unknown) => {
      // A broken script must not look like a provider's hiccup, which would be tried again.
      sendJson(response, {
        status: 400,
        body: { error: { message: `Fake model: ${error}`, type: "script" } },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The fake model has no port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    requests,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Asks for one tool, then answers with what came of it. */
export function oneToolThenAnswer(toolName: string, args: object): ModelScript {
  return (request) => {
    const results = lastToolResults(request);
    if (results.length === 0) return { toolCalls: [{ name: toolName, arguments: args }] };
    return { text: `The result is ${results.map(({ content }) => content).join(", ")}.` };
  };
}

/** The results that follow the last message of the model; none when the last word was someone else's. */
export function lastToolResults(request: ParsedChatRequest): { toolCallId: string; content: string }[] {
  const { messages } = request.body;
  const start = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return messages.slice(start).map(({ tool_call_id = "", content }) => ({
    toolCallId: tool_call_id,
    content: typeof content === "string" ? content : JSON.stringify(content),
  }));
}

async function answer(exchange: {
  request: IncomingMessage;
  response: ServerResponse;
  requests: ParsedChatRequest[];
  script: ModelScript;
}): Promise<void> {
  const { request, response, requests, script } = exchange;
  const receivedAt = Date.now();
  const body = await readBody(request);
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
    return sendJson(response, {
      status: 404,
      body: { error: { message: `No ${request.method} ${request.url}` } },
    });
  }
  const parsed: ParsedChatRequest = {
    body: JSON.parse(body) as ChatRequestBody,
    headers: request.headers,
    receivedAt,
    aborted: false,
  };
  response.once("close", () => {
    parsed.aborted = !response.writableFinished;
  });
  const index = requests.push(parsed) - 1;
  const reply = await script(parsed, index);
  if (reply.delayMs !== undefined) await delay(reply.delayMs);
  if ("hang" in reply || response.destroyed) return;
  if ("status" in reply) return sendJson(response, reply);
  const completion = { reply, index, model: parsed.body.model };
  if (!parsed.body.stream) return writeCompletion(response, completion);
  await writeCompletionStream(response, {
    ...completion,
    includeUsage: parsed.body.stream_options?.include_usage === true,
  });
}

function sendJson(
  response: ServerResponse,
  reply: { status: number; body: unknown; headers?: Record<string, string> },
): void {
  if (response.destroyed) return;
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
  response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  request.setEncoding("utf8");
  for await (const chunk of request) body += chunk;
  return body;
}
