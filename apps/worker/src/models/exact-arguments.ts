// Anthropic and Google send a call's arguments as an object of the reply, which the AI SDK reads through doubles, takes
// with repeated keys, refuses with a key named `__proto__`, and cannot write again when it nests too deep. So they are
// handed to it as text, which it passes on, and read by us.
import { randomUUID } from "node:crypto";
import { findArguments } from "./find-arguments.ts";
import { modelFetch } from "./model-fetch.ts";

/** Tells our text from a string that a model gave as arguments. No model can know it. */
const MARK = `tandem-arguments-${randomUUID()}:`;

/** `fetch`, with the arguments of all calls in a JSON reply as marked text. For `fetch` of these providers. */
export const fetchWithExactArguments: typeof fetch = async (input, init) => {
  const response = await modelFetch(input, init);
  if (!response.ok || !response.headers.get("content-type")?.includes("json")) return response;
  const { status, statusText } = response;
  // They are of the bytes that came; those that go on are others.
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response(toMarkedArguments(await response.text()), { status, statusText, headers });
};

/** The arguments' text as the model gave it, whether or not they came as marked text. */
export function toArgumentsText(input: string): string {
  if (!input.startsWith(`"${MARK}`)) return input;
  return (JSON.parse(input) as string).slice(MARK.length);
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
