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

/** What happens to a reply in the middle, when it is streamed. */
export interface Midway {
  /** Half of the pieces are held until this resolves. */
  midway?: Promise<unknown>;
  /** What comes in place of the second half: nothing, as the connection breaks, or an error of the provider. */
  insteadOfRest?: "cut" | { error: object };
}

/** A reply that is a completion; `empty` has neither text nor tool calls. */
export type CompletionReply = Midway & { usage?: Usage; finishReason?: string } & (
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
export async function writeCompletionStream(
  response: ServerResponse,
  completion: Completion & { includeUsage: boolean },
): Promise<void> {
  const { midway, insteadOfRest } = completion.reply;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const head = toHead(completion, "chat.completion.chunk");
  const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
  const deltas = toDeltas(completion);
  const half = Math.ceil(deltas.length / 2);
  for (const [position, delta] of deltas.entries()) {
    if (position === half) {
      await midway;
      if (insteadOfRest === "cut") return void response.destroy();
      if (insteadOfRest) return void response.end(`data: ${JSON.stringify(insteadOfRest)}\n\n`);
    }
    if (response.destroyed) return;
    send({ choices: [{ index: 0, delta, finish_reason: null }] });
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: toParts(completion).finishReason }] });
  if (completion.includeUsage) send({ choices: [], usage: toUsage(completion.reply) });
  response.end("data: [DONE]\n\n");
}

function toDeltas(completion: Completion): object[] {
  const { text, toolCalls } = toParts(completion);
  return [
    { role: "assistant", content: "" },
    ...(text?.match(/\S+\s*|\s+/g) ?? []).map((content) => ({ content })),
    ...toolCalls.flatMap((call, index) => [
      { tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }] },
      { tool_calls: [{ index, function: { arguments: call.function.arguments } }] },
    ]),
  ];
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
