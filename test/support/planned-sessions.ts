// Sessions whose whole course is known before: their first message says how many calls each step makes, and their answer
// is made of every result. What comes out differs when anything was lost, done twice, or put in another place.

import { FATES, guardedTools, isPlanned, toolOf } from "./call-fates.ts";
import type { ChatMessage, ModelScript, ParsedChatRequest } from "./fake-model-server.ts";
import type { Random } from "./seeded.ts";

/** The course of a session. */
export interface Plan {
  /** Unique among the sessions of a test. */
  number: number;
  /** How many calls each step makes before the answer; 0 is one call of a tool that does not exist. */
  steps: number[];
  /** Whether its calls have fates of all kinds: approvals, deadlines. Default false: each runs. */
  isGuarded?: boolean;
}

/** The tool that plans call: it looks up what its key stands for. */
export const lookUpTool = {
  name: "look_up",
  description: "Looks up a key.",
  input_schema: {
    type: "object",
    properties: { key: { type: "string" } },
    required: ["key"],
    additionalProperties: false,
  },
};

/** Plans of one to three steps with one to four parallel calls; one step in six makes a useless call. */
export function makePlans(count: number, random: Random): Plan[] {
  const makeStep = () => (random() < 1 / 6 ? 0 : random.integer(1, 4));
  return Array.from({ length: count }, (_, number) => ({
    number,
    steps: [random.integer(1, 4), ...Array.from({ length: random.integer(0, 2) }, makeStep)],
  }));
}

/** The request that starts a session with this plan. */
export function toSessionRequest(plan: Plan) {
  const messages = `${plan.isGuarded ? "Guarded session" : "Session"} ${plan.number}: ${plan.steps.join(" ")}`;
  return {
    agent: { name: "planned", tools: plan.isGuarded ? guardedTools(lookUpTool) : [lookUpTool] },
    messages,
  };
}

/** The keys that a plan looks up, in order. */
export function keysOf(plan: Plan): string[] {
  return plan.steps.flatMap((count, step) => Array.from({ length: count }, (_, i) => toKey(plan, step, i)));
}

function toKey({ number, isGuarded }: Plan, step: number, i: number): string {
  const key = `${number}.${step}.${i}`;
  return isGuarded ? `${key}.${FATES[(number + 3 * step + i) % FATES.length]}` : key;
}

/** The answer of a planned session, from what its look-ups gave. */
export const toAnswer = (values: readonly string[]): string => values.join("|");

/** A model that keeps to the plan; `delayMs` is how long each reply takes. */
export function planned(delayMs: () => number): ModelScript {
  return (request) => {
    const plan = readPlan(request);
    const asked = request.body.messages.flatMap((message) => message.tool_calls ?? []);
    const step = request.body.messages.filter((message) => message.tool_calls?.length).length;
    const count = plan.steps[step];
    if (count === undefined) {
      const lookedUp = new Set(asked.filter((call) => isPlanned(call.function.name)).map((call) => call.id));
      const values = request.body.messages
        .filter((message) => message.role === "tool" && lookedUp.has(message.tool_call_id ?? ""))
        .map((message) => String(message.content));
      return { text: toAnswer(values), delayMs: delayMs() };
    }
    const useless = [{ name: "no_such_tool", arguments: {} }];
    const keys = Array.from({ length: count }, (_, i) => toKey(plan, step, i));
    const calls = keys.map((key) => ({ name: toolOf(key), arguments: { key } }));
    return { toolCalls: count === 0 ? useless : calls, delayMs: delayMs() };
  };
}

function readPlan(request: ParsedChatRequest): Plan {
  const first = request.body.messages.find((message: ChatMessage) => message.role === "user");
  const [, kind, number, steps = ""] =
    String(first?.content).match(/^(Session|Guarded session) (\d+): ([\d ]+)$/) ?? [];
  if (number === undefined) throw new Error(`A message without a plan: ${JSON.stringify(first)}`);
  return {
    ...{ number: Number(number), steps: steps.split(" ").map(Number) },
    isGuarded: kind === "Guarded session",
  };
}
