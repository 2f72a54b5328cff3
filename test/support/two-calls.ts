// Sessions that each ask for two calls of one tool at once.
import type { ModelScript } from "./fake-model-server.ts";

/** Asks for two calls at once, then says what came of them. */
export const twoCalls: ModelScript = ({ body }) => {
  const results = body.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  if (results.length > 0) return { text: results.sort().join(" ") };
  const number = String(body.messages.find(({ role }) => role === "user")?.content);
  const names = ["left", "right"].map((side) => ({ key: `${number}.${side}` }));
  return { toolCalls: names.map((args) => ({ name: "look_up", arguments: args })) };
};

export const lookUpDefinition = {
  name: "look_up",
  description: "Looks up a key.",
  input_schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
};

/** The keys that a session with this number as its message looks up. */
export const keysOfTwo = (number: number): string[] => [`${number}.left`, `${number}.right`];
