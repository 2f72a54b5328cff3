// Anthropic and Google send a call's arguments as an object of the reply, which the AI SDK reads through doubles, takes
// with repeated keys, refuses with a key named `__proto__`, and cannot write again when it nests too deep. So they are
// handed to it as text, which it passes on, and read by us.
import { randomUUID } from "node:crypto";
import { findStringEnd } from "@tandem/engine/domain/scan-json";
import { mapEvents } from "./event-stream.ts";
import { findArguments } from "./find-arguments.ts";
import { modelFetch } from "./model-fetch.ts";

/** Tells our text from a string that a model gave as arguments. No model can know it. */
const MARK = `tandem-arguments-${randomUUID()}:`;

/**
 * `fetch`, with the arguments of all calls in a JSON reply, or in the events of a stream, as marked text. For `fetch` of
 * these providers.
 */
export const fetchWithExactArguments: typeof fetch = async (input, init) => {
  const response = await modelFetch(input, init);
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok) return response;
  if (type.includes("json")) return withBody(response, toMarkedArguments(await response.text()));
  if (!type.startsWith("text/event-stream") || response.body === null) return response;
  return withBody(response, mapEvents(response.body, toMarkedArguments));
};

function withBody({ status, statusText, headers: sent }: Response, body: string | ReadableStream): Response {
  // They are of the bytes that came; those that go on are others.
  const headers = new Headers(sent);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response(body, { status, statusText, headers });
}

/** The arguments' text as the model gave it, whether or not they came as marked text. */
export function toArgumentsText(input: string): string {
  // A text that is the value of the arguments is passed on as it is where a reply is streamed.
  if (input.startsWith(MARK)) return input.slice(MARK.length);
  if (!input.startsWith(`"${MARK}`)) return input;
  const end = findStringEnd(input, 0) + 1;
  // What a stream adds to arguments that were there from its beginning belongs to them.
  return (JSON.parse(input.slice(0, end)) as string).slice(MARK.length) + input.slice(end);
}

function toMarkedArguments(text: string): string {
  try {
    const marked = markArguments(text);
    // Throws when the rest of the reply is no JSON: then the provider's own reader has the word.
    JSON.parse(marked);
    return marked;
  } catch {
    return text;
  }
}

const NO_ARGUMENTS = /^\{\s*\}$/;

/** Cut out unread: a repeated key, a deep nesting or a slip in the arguments is told to the model, by their reader. */
function markArguments(text: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (const span of findArguments(text)) {
    // Nothing of them can be lost; and where a stream says them later, they begin as none.
    if (NO_ARGUMENTS.test(text.slice(span.start, span.end))) continue;
    pieces.push(text.slice(end, span.start), JSON.stringify(MARK + text.slice(span.start, span.end)));
    end = span.end;
  }
  return pieces.join("") + text.slice(end);
}
