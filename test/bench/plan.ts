// The course of a scripted session, told to the model in the session's first message: so the model needs no memory.

/** The course of a session: so many steps that ask for tools, then an answer. */
export interface Plan {
  /** Names the session among those of a run; no spaces. */
  key: string;
  steps: number;
  /** Calls of each step. Default 1. */
  calls?: number;
}

/** The model that every session of the bench names: the provider is the scripted model's process. */
export const SCRIPTED_MODEL = "compatible/scripted";

/** The tool that plans call. It takes a number, so that no two calls are the same: repeats are counted. */
export const lookUpTool = {
  name: "look_up",
  description: "Looks up what stands at a place.",
  input_schema: {
    type: "object",
    properties: { place: { type: "integer" } },
    required: ["place"],
    additionalProperties: false,
  },
};

/** The body that creates a session with this plan. */
export function toCreateBody(plan: Plan): string {
  return JSON.stringify({
    agent: { name: "bench", model: SCRIPTED_MODEL, tools: [lookUpTool] },
    messages: toMessage(plan),
  });
}

/** The first message of a session with this plan. */
export const toMessage = ({ key, steps, calls = 1 }: Plan): string =>
  `Session ${key}: ${steps} steps of ${calls} calls`;

/** Reads a plan from a first message. @throws when there is none */
export function readPlan(message: string): Required<Plan> {
  const [, key, steps, calls] = /^Session (\S+): (\d+) steps of (\d+) calls$/.exec(message) ?? [];
  if (key === undefined) throw new Error(`A message without a plan: ${message.slice(0, 100)}`);
  return { key, steps: Number(steps), calls: Number(calls) };
}
