// A model whose part is in the last message of its user, and the things that the contract tests send to it.
import { lastToolResults, type ModelScript, type ParsedChatRequest } from "../support/fake-model-server.ts";

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/** An image as clients send it. */
export const image = `data:image/png;base64,${pixel}`;

/** The id of nothing. */
export const nobody = "0190f5e2-0000-7000-8000-000000000000";

/** A format of answers, which `submit` fits. */
export const answerFormat = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
};

const nonsense = [
  { name: "no_such_tool", arguments: { a: 1 } },
  { name: "get_weather", arguments: "not JSON" },
  { name: "get_weather", arguments: "[1, 2]" },
  { name: "get_weather", arguments: { town: "Paris" } },
];

/**
 * Makes the model. It does what the last message says: `hang`, `refuse`, `hiccup` (once), `say nothing`, `submit`,
 * `submit badly`, `ask <number>`, `ask nonsense`; else it answers.
 */
export function createScriptedModel(): ModelScript {
  let hiccups = 0;
  return (request) => {
    const text = lastUserText(request);
    const isFirst = lastToolResults(request).length === 0;
    if (text.includes("hang")) return { hang: true };
    if (text.includes("refuse")) return { status: 400, body: { error: { message: "No such model." } } };
    if (text.includes("hiccup") && hiccups++ === 0) {
      return { status: 500, body: { error: { message: "Overloaded." } } };
    }
    if (/say nothing|reply was empty/.test(text)) return { empty: true };
    if (text.includes("submit")) {
      const args = text.includes("badly") ? { city: 1 } : { city: "Paris", degrees: 18 };
      return { toolCalls: [{ name: "submit_answer", arguments: args }] };
    }
    if (isFirst && text.includes("ask nonsense")) return { toolCalls: nonsense };
    const asked = /ask (\d+)/.exec(text);
    if (isFirst && asked) return { text: "Let me look.", toolCalls: askForWeather(Number(asked[1])) };
    return { text: "It is 18 °C." };
  };
}

function askForWeather(count: number) {
  return Array.from({ length: count }, (_, n) => ({ name: "get_weather", arguments: { city: `City ${n}` } }));
}

function lastUserText(request: ParsedChatRequest): string {
  const message = request.body.messages.findLast(({ role }) => role === "user");
  return typeof message?.content === "string" ? message.content : JSON.stringify(message?.content);
}
