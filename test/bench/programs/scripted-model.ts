// A model provider in a process of its own, over OpenAI's chat completions wire and with no delay of its own. What it
// says follows from the messages alone. It notes when each request arrived, on the monotonic clock that all processes
// of a machine share, at the moment its head is read: before the body, which grows with the history, is there.
// `GET /arrivals` gives what was noted since the last time.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChatMessage, ChatRequestBody } from "../../support/fake-model-server.ts";
import {
  type CompletionReply,
  writeCompletion,
  writeCompletionStream,
} from "../../support/fake-model-wire.ts";
import { monotonicMs } from "../clock.ts";
import { lookUpTool, readPlan } from "../plan.ts";

/** When a request of a planned session arrived. */
export interface Arrival {
  /** The session's, of its plan. */
  key: string;
  /** How many results the request held. */
  results: number;
  /** By `monotonicMs`. */
  at: number;
}

let arrivals: Arrival[] = [];
let requests = 0;

const server = createServer((request, response) => {
  const at = monotonicMs();
  if (request.method === "GET" && request.url === "/arrivals") {
    response.end(JSON.stringify(arrivals));
    arrivals = [];
    return;
  }
  answer(request, response, at).catch((error: unknown) => {
    // No provider's hiccup, which would be tried again: the run has to fail.
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Scripted model: ${error}` } }));
  });
});
// Far longer than any pause of a run: a connection that is closed in between would be measured.
server.keepAliveTimeout = 600_000;

async function answer(request: IncomingMessage, response: ServerResponse, at: number): Promise<void> {
  const body = JSON.parse(await readBody(request)) as ChatRequestBody;
  const first = body.messages.find(({ role }) => role === "user");
  const plan = readPlan(toText(first?.content));
  const results = body.messages.filter(({ role }) => role === "tool").length;
  arrivals.push({ key: plan.key, results, at });
  const asked = body.messages.filter(({ tool_calls }) => tool_calls?.length).length;
  const reply: CompletionReply =
    asked < plan.steps
      ? { toolCalls: Array.from({ length: plan.calls }, (_, i) => toCall(asked * plan.calls + i)) }
      : { text: `Looked up ${results} places.` };
  const completion = { reply, index: requests++, model: body.model };
  if (!body.stream) return writeCompletion(response, completion);
  writeCompletionStream(response, {
    ...completion,
    includeUsage: body.stream_options?.include_usage === true,
  });
}

const toCall = (place: number) => ({ name: lookUpTool.name, arguments: { place } });

/** Content is text, or a list of parts. */
function toText(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  const [part] = Array.isArray(content) ? content : [];
  return String(part?.text ?? "");
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
// Without the bench there is nothing to be asked.
process.once("disconnect", () => process.exit(0));
