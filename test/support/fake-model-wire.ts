import type { ServerResponse } from "node:http";

export interface ScriptedToolCall {
  /** Default `call_<request>_<position>`, unique in one server. */
  id?: string;
  name: string;
  /** A string is sent as it is, valid JSON or not. */
  arguments: object | string;
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}

/** A reply that is a completion; `empty` has neither text nor tool calls. */
export type CompletionReply = { usage?: Usage; finishReason?: string } & (
  | { text: string }
  | { toolCalls: ScriptedToolCall[]; text?: string }
  | { empty: true }
);

interface Completion {
  reply: CompletionReply;
  /** The request's number. */
  index: number;
  model: string;
}

const defaultUsage: Usage = { prompt_tokens: 10, completion_tokens: 5 };

export function writeCompletion(response: ServerResponse, completion: Completion): void {
  const { text, toolCalls, finishReason } = toParts(completion);
  const message = {
    role: "assistant",
    content: text,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      ...toHead(completion, "chat.completion"),
      choices: [{ index: 0, message, finish_reason: finishReason }],
      usage: toUsage(completion.reply),
    }),
  );
}

/** Text comes word by word, and a tool call in two pieces, as providers do it. */
export function writeCompletionStream(
  response: ServerResponse,
  completion: Completion & { includeUsage: boolean },
): void {
  const { text, toolCalls, finishReason } = toParts(completion);
  const head = toHead(completion, "chat.completion.chunk");
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
  const sendDelta = (delta: object) => send({ choices: [{ index: 0, delta, finish_reason: null }] });

  sendDelta({ role: "assistant", content: "" });
  for (const content of text?.match(/\S+\s*|\s+/g) ?? []) sendDelta({ content });
  for (const [index, call] of toolCalls.entries()) {
    const { name, arguments: args } = call.function;
    sendDelta({ tool_calls: [{ index, ...call, function: { name, arguments: "" } }] });
    sendDelta({ tool_calls: [{ index, function: { arguments: args } }] });
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] });
  if (completion.includeUsage) send({ choices: [], usage: toUsage(completion.reply) });
  response.end("data: [DONE]\n\n");
}

function toHead({ index, model }: Completion, object: string) {
  return { id: `chatcmpl-${index}`, object, created: Math.floor(Date.now() / 1000), model };
}

function toParts({ reply, index }: Completion) {
  const calls = "toolCalls" in reply ? reply.toolCalls : [];
  const toolCalls = calls.map((call, position) => ({
    id: call.id ?? `call_${index}_${position}`,
    type: "function" as const,
    function: {
      name: call.name,
      arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
  return {
    text: "text" in reply && reply.text !== undefined ? reply.text : null,
    toolCalls,
    finishReason: reply.finishReason ?? (toolCalls.length > 0 ? "tool_calls" : "stop"),
  };
}

function toUsage({ usage = defaultUsage }: CompletionReply) {
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
}
