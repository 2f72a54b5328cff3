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
  /** A name for people. */
  readonly title?: string | undefined;
  /** `read` looks, `actuator` acts. Default: `read`. */
  readonly capability?: "read" | "actuator" | undefined;
  /** `always`: every call waits for an approval. Default: as the agent says. */
  readonly approval?: "never" | "always" | undefined;
  /** How long a call may wait for its approval, in seconds; null for ever. Default: as the session says. */
  readonly approvalTimeoutS?: number | null | undefined;
  /** What counts when nobody decides in time. Default: `deny`. */
  readonly onApprovalTimeout?: "deny" | "allow" | undefined;
  /** How long a call may wait for its result, in seconds; null for ever. Default: as the session says. */
  readonly timeoutS?: number | null | undefined;
  /** When that time is over: `error` tells the model, `fail` ends the session. Default: `error`. */
  readonly onTimeout?: "error" | "fail" | undefined;
  /** After so many failures in a run the tool is offered no more. Default: any number. */
  readonly maxRetries?: number | undefined;
  /** Most tokens of a result that the model sees, at four characters each. Default: all. */
  readonly maxResultTokens?: number | undefined;
  /** Asks the provider for arguments that fit the schema, where it can. Default: false. */
  readonly strict?: boolean | undefined;
  /** Keeps the definition from the model until it has found it with `search_tools`. Default: false. */
  readonly deferLoading?: boolean | undefined;
  /** Arguments of good calls, told to the model. */
  readonly examples?: readonly Args[] | undefined;
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
  return tools.map(toDefinition);
}

function toDefinition(tool: Tool): ToolDefinition {
  const fields = {
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema,
    title: tool.title,
    capability: tool.capability,
    approval: tool.approval,
    approval_timeout_s: tool.approvalTimeoutS,
    on_approval_timeout: tool.onApprovalTimeout,
    timeout_s: tool.timeoutS,
    on_timeout: tool.onTimeout,
    max_retries: tool.maxRetries,
    max_result_tokens: tool.maxResultTokens,
    strict: tool.strict,
    defer_loading: tool.deferLoading,
    examples: tool.examples?.map((example) => example as { [key: string]: unknown }),
  } satisfies { [Key in keyof Required<ToolDefinition>]: ToolDefinition[Key] | undefined };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as ToolDefinition;
}

function findFault({ name, description, inputSchema, fn }: Omit<Tool, "examples">): string | null {
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
