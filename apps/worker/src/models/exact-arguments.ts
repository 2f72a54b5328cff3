// Anthropic and Google send a call's arguments as an object of the reply, which the AI SDK reads through doubles, and
// refuses with a key named `__proto__`. So they are handed to it as text, which it passes on, and read by us.
import { randomUUID } from "node:crypto";
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "@tandem/engine/domain/json";

/** Tells our text from a string that a model gave as arguments. No model can know it. */
const MARK = `tandem-arguments-${randomUUID()}:`;

/** `fetch`, with the arguments of all calls in a JSON reply as marked text. For `fetch` of these providers. */
export const fetchWithExactArguments: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
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
    return stringifyJson(markIn(parseJson(text)));
  } catch {
    // No JSON, or none that can be carried: the provider's own reader has the word.
    return text;
  }
}

function markIn(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(markIn);
  if (!isJsonObject(value)) return value;
  if (value.type === "tool_use" && isJsonObject(value.input)) return { ...value, input: mark(value.input) };
  const { functionCall } = value;
  if (isJsonObject(functionCall) && isJsonObject(functionCall.args))
    return { ...value, functionCall: { ...functionCall, args: mark(functionCall.args) } };
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, markIn(child)] as const));
}

function mark(args: JsonValue): string {
  return MARK + stringifyJson(args);
}
