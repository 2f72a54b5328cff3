// Tools: functions of this process that a model can call.
import { TandemError } from "./errors.ts";
import type { Guardrail } from "./guardrails.ts";
import type { JsonSchema } from "./schemas/json-schema.ts";
import { type ParseResult, readSchema } from "./schemas/read-schema.ts";
import type { SchemaInput, SchemaOutput, ToolSchema } from "./schemas/tool-schema.ts";
import type { ToolReturn } from "./tool-result.ts";

/** What a tool's function gets beside its arguments. */
export interface ToolContext<Context = unknown> {
  sessionId: string;
  /** The call's id: the same for each delivery of one call. */
  callId: string;
  /** `sessionId/callId`: stable per call and unique among sessions, for what the tool does elsewhere. */
  idempotencyKey: string;
  /** Aborted when nobody waits for the result any more: the call was withdrawn or took too long, the wait has ended. */
  signal: AbortSignal;
  /** Shows a value to those who watch the session. It reaches no model, and never fails: it is best effort. */
  progress(value: unknown): Promise<void>;
  /** The run's own value, as given to `runSession({ context })`. */
  context: Context;
}

/** What `enabled` gets. */
export interface EnabledContext<Context = unknown> {
  /** The run's own value. */
  context: Context;
  /** Null while the tools of a session that is yet to be made are chosen. */
  sessionId: string | null;
}

/** A function that is called with a tool's arguments. Written as a method, so that a tool is a `Tool<unknown>` too. */
type OfArgs<Args, Result> = { method(args: Args, context: ToolContext): Result }["method"];

/** The contract of a tool: what the server and this package need to know beside its schema and its function. */
export interface ToolSettings<Args = unknown> {
  /** Letters, digits, `_` and `-`, first a letter or `_`, at most 64. */
  readonly name: string;
  /** What the tool does, for the model. */
  readonly description: string;
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
  /**
   * How long `fn` may take, in ms: then its `signal` is aborted and the model gets an error. Rounded up to seconds it is
   * the `timeoutS` too, unless that is given. Default: no bound on this side.
   */
  readonly timeoutMs?: number | undefined;
  /** When a call's time is over: `error` tells the model, `fail` ends the session. Default: `error`. */
  readonly onTimeout?: "error" | "fail" | undefined;
  /** After so many failures in a run the tool is offered no more. Default: any number. */
  readonly maxRetries?: number | undefined;
  /** Most tokens of a result that the model sees, at four characters each. Default: all. */
  readonly maxResultTokens?: number | undefined;
  /** Asks the provider for arguments that fit the schema, where it can. Default: false. */
  readonly strict?: boolean | undefined;
  /** Keeps the definition from the model until it has found it with `search_tools`. Default: false. */
  readonly deferLoading?: boolean | undefined;
  /**
   * Whether the tool can be used now. Asked when a session is made, which is then told of enabled tools alone, and before
   * each call, which is otherwise answered with an error. Default: true.
   */
  readonly enabled?: boolean | { method(context: EnabledContext): boolean }["method"] | undefined;
  /** Whether this call needs a permission from this side, by `onPermissionRequest`. Default: false. */
  readonly requiresApproval?: boolean | OfArgs<Args, boolean | Promise<boolean>> | undefined;
  /** Look at the arguments, in order, before the call runs. */
  readonly inputGuardrails?: readonly Guardrail<Args>[] | undefined;
  /** Look at the result, in order, before it is posted: the JSON of it, with images as data URIs. */
  readonly outputGuardrails?: readonly Guardrail<unknown>[] | undefined;
  /** Most calls of this tool at a time, within one run. Default: any number. */
  readonly maxConcurrency?: number | undefined;
  /**
   * What a call leaves behind, which decides what happens when nobody knows whether one has run: `none` and `idempotent`
   * calls run again, of an `unsafe` one the model is told that its outcome is unknown. Default: `none`; for actuators
   * `unsafe`.
   */
  readonly sideEffects?: "none" | "idempotent" | "unsafe" | undefined;
}

/** What {@link tool} takes. */
export interface ToolOptions<Schema, Args = SchemaOutput<Schema>, Input = SchemaInput<Schema>>
  extends ToolSettings<Args> {
  /** The schema of the arguments; its top level is an object. Without it any object is accepted. */
  readonly inputSchema?: Schema | undefined;
  /**
   * Makes the JSON Schema of `inputSchema`, for libraries that give none themselves: Zod 4 before 4.2 and `zod/mini`
   * take their `z.toJSONSchema`.
   */
  readonly toJsonSchema?: { method(schema: Schema, options: { io: "input" }): object }["method"] | undefined;
  /** Arguments of good calls, told to the model. */
  readonly examples?: readonly Input[] | undefined;
  /**
   * Runs a call. What it returns goes to the model: text, JSON, or `{ text, images, details, error }`. What it throws
   * goes to the model as an error. An async generator shows what it yields as progress; its result is what it returns,
   * or the last value that it yields.
   */
  fn(args: Args, context: ToolContext): ToolReturn;
}

/** A tool. Made by {@link tool}. */
export interface Tool<Args = unknown> extends ToolSettings<Args> {
  /** The JSON Schema of the arguments, as the server is told it. */
  readonly inputSchema: JsonSchema | undefined;
  readonly examples: readonly unknown[] | undefined;
  readonly sideEffects: "none" | "idempotent" | "unsafe";
  /** Checks arguments with the tool's schema, and transforms them. The faults are for the model. Never throws. */
  parse(args: unknown): Promise<ParseResult<Args>>;
  /** Runs a call. */
  fn(args: Args, context: ToolContext): ToolReturn;
}

/** Nothing where no type was named: a schema then gives the type, and one that does not fit its tool is an error. */
type NamedOnly<Args> = Record<string, unknown> extends Args ? never : ToolSchema;

const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Makes a tool of a function. The type of its arguments follows from `inputSchema`: a JSON Schema, a Zod 3 or 4 schema,
 * or one of another library that follows Standard Schema. Arguments are checked and transformed before `fn` runs.
 *
 * @throws {TandemError} when the name, the description, the schema or the function cannot be used, with the place
 * @example
 * const getWeather = tool({
 *   name: "get_weather",
 *   description: "The weather in a city, now.",
 *   inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   fn: async ({ city }, { signal }) => (await fetch(`https://wttr.in/${city}?format=3`, { signal })).text(),
 * });
 */
export function tool<const Schema extends ToolSchema>(
  options: ToolOptions<Schema> & { readonly inputSchema: Schema },
): Tool<SchemaOutput<Schema>>;
/** The same with the type of the arguments named, `tool<{ city: string }>({ … })`, or with any arguments. */
export function tool<Args = Record<string, unknown>>(
  options: ToolOptions<NamedOnly<Args>, NoInfer<Args>, NoInfer<Args>>,
): Tool<Args>;
export function tool(options: ToolOptions<ToolSchema, unknown, unknown>): Tool {
  const fault = findFault(options);
  if (fault) throw new TandemError(`Tool ${JSON.stringify(options.name)}: ${fault}`);
  const { inputSchema, toJsonSchema, ...rest } = options;
  return {
    ...rest,
    ...(inputSchema
      ? readSchema(inputSchema, { place: `Tool ${JSON.stringify(options.name)}: inputSchema`, toJsonSchema })
      : { inputSchema, parse: async (value: unknown) => ({ ok: true as const, value }) }),
    examples: options.examples,
    sideEffects: options.sideEffects ?? (options.capability === "actuator" ? "unsafe" : "none"),
  };
}

/**
 * The same tool under another name.
 *
 * @throws {TandemError} when it cannot be a name
 */
export function withName(tool: Tool, name: string): Tool {
  const fault = findNameFault(name);
  if (fault) throw new TandemError(`Tool ${JSON.stringify(name)}: ${fault}`);
  return { ...tool, name };
}

function findFault(options: ToolOptions<unknown, unknown, unknown>): string | null {
  const { name, description, inputSchema, fn, timeoutMs, maxConcurrency } = options;
  const nameFault = findNameFault(name);
  if (nameFault) return nameFault;
  if (typeof description !== "string" || description === "") return "a description is needed, for the model";
  if (inputSchema !== undefined && !isSchemaLike(inputSchema)) {
    return "inputSchema must be a JSON Schema object, or a schema of Zod or another Standard Schema library";
  }
  if (typeof fn !== "function") return "fn must be a function";
  if (timeoutMs !== undefined && !(timeoutMs > 0)) return "timeoutMs must be above 0";
  if (maxConcurrency !== undefined && !(maxConcurrency >= 1)) return "maxConcurrency must be at least 1";
  return null;
}

function findNameFault(name: unknown): string | null {
  if (typeof name === "string" && namePattern.test(name)) return null;
  return "a name has letters, digits, _ and -, begins with a letter or _, and is at most 64 long";
}

function isSchemaLike(value: unknown): boolean {
  return (
    typeof value === "function" || (typeof value === "object" && value !== null && !Array.isArray(value))
  );
}
