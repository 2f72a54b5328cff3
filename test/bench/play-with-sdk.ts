// The same session as `playSession` plays it, with the SDK as the client.
import { TandemClient, tool } from "@tandem/sdk";
import { lookUpTool, type Plan, SCRIPTED_MODEL, toMessage } from "./plan.ts";
import type { Stack } from "./stack.ts";

/** Plays sessions with one client of the SDK; what it gives rejects when one does not complete. */
export function createSdkPlayer(stack: Stack): (plan: Plan) => Promise<void> {
  const client = new TandemClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKey });
  const { name, description, input_schema: inputSchema } = lookUpTool;
  const tools = [tool({ name, description, inputSchema, fn: () => "It is the 7th place." })];
  return async (plan) => {
    const { status } = await client.runSession({
      agent: { name: "bench", model: SCRIPTED_MODEL },
      messages: toMessage(plan),
      tools,
    });
    if (status !== "completed") throw new Error(`A session of the SDK is ${status}`);
  };
}
