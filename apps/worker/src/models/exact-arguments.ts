// Anthropic and Google send a call's arguments as an object of the reply, which the AI SDK reads through doubles, takes
// with repeated keys, refuses with a key named `__proto__`, and cannot write again when it nests too deep. So they are
// handed to it as text, which it passes on, and read by us.
import { randomUUID } from "node:crypto";
import { mapEvents, withBody } from "./event-stream.ts";
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
  return withBody(response, mapEvents(response.body, toExactEvents));
};

/** The arguments' text as the model gave it, whether or not they came as marked text. */
export function toArgumentsText(input: string): string {
  // Where a reply is streamed, a text in place of the arguments is passed on as it is.
  if (input.startsWith(MARK)) return input.slice(MARK.length);
  if (!input.startsWith(`"${MARK}`)) return input;
  return (JSON.parse(input) as string).slice(MARK.length);
}

/** An event of Anthropic's that may begin a call: its arguments come later, as text, and most begin with none. */
const BEGINS_BLOCK = '"content_block_start"';
const NO_ARGUMENTS = /^\{\s*\}$/;

/** The data of a stream's event. A call that begins with arguments begins with none, and is given them as text at once. */
function toExactEvents(data: string): string[] {
  if (!data.includes(BEGINS_BLOCK)) return [toMarkedArguments(data)];
  try {
    const [span] = findArguments(data);
    if (!span) return [data];
    const text = data.slice(span.start, span.end);
    if (NO_ARGUMENTS.test(text)) return [data];
    const begun = `${data.slice(0, span.start)}{}${data.slice(span.end)}`;
    const { index } = JSON.parse(begun) as { index: number };
    const delta = { type: "input_json_delta", partial_json: text };
    return [begun, JSON.stringify({ type: "content_block_delta", index, delta })];
  } catch {
    return [data];
  }
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

/** Cut out unread: a repeated key, a deep nesting or a slip in the arguments is told to the model, by their reader. */
function markArguments(text: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (const span of findArguments(text)) {
    pieces.push(text.slice(end, span.start), JSON.stringify(MARK + text.slice(span.start, span.end)));
    end = span.end;
  }
  return pieces.join("") + text.slice(end);
}
