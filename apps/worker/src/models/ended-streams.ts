// OpenAI-compatible servers that end a stream in good order without a reason of the end. A reply that broke off has none
// either, so the missing one is filled in where the stream says itself that it is whole.
import { mapEvents, withBody } from "./event-stream.ts";
import { modelFetch } from "./model-fetch.ts";

/** What chat completions end a stream with, behind everything else. */
const END = "[DONE]";

const REASON = /"finish_reason"\s*:\s*"[^"]/;
const DELTA = /"delta"\s*:/;
const CALLS = /"tool_calls"\s*:\s*\[\s*\{/;

/** `fetch`, with a reason of the end in every stream of chat completions that was sent to its end. */
export const fetchWithEnds: typeof fetch = async (input, init) => {
  const response = await modelFetch(input, init);
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || response.body === null || !type.startsWith("text/event-stream")) return response;
  return withBody(response, mapEvents(response.body, createEnding()));
};

/** Passes on the data of one stream's events. */
function createEnding(): (data: string) => string[] {
  let hasReason = false;
  let hasCalls = false;
  let hasBegun = false;
  return (data) => {
    if (data.trim() === END && hasBegun && !hasReason) return [toEnd(hasCalls ? "tool_calls" : "stop"), data];
    hasReason ||= REASON.test(data);
    hasBegun ||= DELTA.test(data);
    hasCalls ||= CALLS.test(data);
    return [data];
  };
}

function toEnd(reason: string): string {
  return JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
}
