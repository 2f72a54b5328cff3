// Tools: functions of this process that a model can call.
import { TandemError } from "./errors.ts";
import type { ToolDefinition } from "./generated/types.gen.ts";

/** A JSON Schema. */
export type JsonSchema = { [key: string]: unknown };

/** What a tool's function gets beside its arguments. */
export interface ToolContext {
  sessionId: string;
  /** The call's id: the same for each delivery of one call, so it can serve as an idempotency key. */
  callId: string;
  /** Aborted when nobody waits for the result any more: the call was withdrawn, the session or the wait ended. */
  signal: AbortSignal;
}

/** A tool. Made by {@link tool}. */
export interface Tool<Args = unknown> {
  /** Letters, digits, `_` and `-`, first a letter or `_`, at most 64. */
  readonly name: string;
  /** What the tool does, for the model. */
  readonly description: string;
  /** JSON Schema of the arguments; its top level is an object. Without it any object is accepted. */
  readonly inputSchema?: JsonSchema | undefined;
  /** Runs a call. What it returns goes to the model as JSON; what it throws goes to the model as an error. */
  fn(args: Args, context: ToolContext): unknown;
}

const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Makes a tool of a function. The server has checked the arguments against `inputSchema` before `fn` is called.
 *
 * @throws {TandemError} when the name, the description, the schema or the function cannot be used
 * @example
 * const getWeather = tool<{ city: string }>({
 *   name: "get_weather",
 *   description: "The weather in a city, now.",
 *   inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   fn: async ({ city }, { signal }) => (await fetch(`https://wttr.in/${city}?format=3`, { signal })).text(),
 * });
 */
export function tool<Args = Record<string, unknown>>(options: Tool<Args>): Tool<Args> {
  const fault = findFault(options);
  if (fault) throw new TandemError(`Tool ${JSON.stringify(options.name)}: ${fault}`);
  return options;
}

/**
 * The definitions of tools, as the API takes them.
 *
 * @throws {TandemError} when two tools have the same name
 */
export function toDefinitions(tools: readonly Tool[]): ToolDefinition[] {
  const repeated = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) < index);
  if (repeated) throw new TandemError(`Two tools are named ${JSON.stringify(repeated.name)}`);
  return tools.map(({ name, description, inputSchema }) =>
    inputSchema ? { name, description, input_schema: inputSchema } : { name, description },
  );
}

function findFault({ name, description, inputSchema, fn }: Tool<never>): string | null {
  if (typeof name !== "string" || !namePattern.test(name)) {
    return "a name has letters, digits, _ and -, begins with a letter or _, and is at most 64 long";
  }
  if (typeof description !== "string" || description === "") return "a description is needed, for the model";
  if (inputSchema !== undefined && !isObject(inputSchema)) return "inputSchema must be a JSON Schema object";
  if (typeof fn !== "function") return "fn must be a function";
  return null;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
