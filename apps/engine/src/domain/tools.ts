// Tool definitions: what a caller may define, and the checks that every definition passes before it is stored.
import type { Fault } from "./errors.ts";
import { hasExactNumber, isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "./json.ts";
import { createValueChecker, findSchemaFault, type ValueChecker } from "./json-schema.ts";

/** What a tool does to the world: it looks, or it acts. */
export const CAPABILITIES = ["read", "actuator"] as const;

/** A capability of {@link CAPABILITIES}. */
export type Capability = (typeof CAPABILITIES)[number];

/** Why a call needs approval: its tool says so, the agent says so of tools that act, or of all. */
export const APPROVAL_REASONS = ["tool", "actuator", "agent"] as const;

/** A reason of {@link APPROVAL_REASONS}. */
export type ApprovalReason = (typeof APPROVAL_REASONS)[number];

/** What can be decided on a call that needs approval. */
export const DECISIONS = ["allow", "deny"] as const;

/** A decision of {@link DECISIONS}. */
export type Decision = (typeof DECISIONS)[number];

/** Whether a tool's calls need approval before they are offered to the caller. */
export const APPROVALS = ["never", "always"] as const;

/** What happens when a call's result does not come in time: the model is told, or the session fails. */
export const ON_TIMEOUT = ["error", "fail"] as const;

/** What counts when nobody decides on a call in time. */
export const ON_APPROVAL_TIMEOUT = ["deny", "allow"] as const;

/** A tool that runs in the caller's process. A missing `input_schema` accepts any object. */
export interface ToolDefinition {
  name: string;
  description: string;
  input_schema?: JsonObject;
  /** A name for people. */
  title?: string | null;
  /** Default `read`. */
  capability?: (typeof CAPABILITIES)[number] | null;
  /** Absent: as the agent's `approval` says. */
  approval?: (typeof APPROVALS)[number] | null;
  /** How long a call may wait for a decision, in seconds; null waits on. Absent: as the session says. */
  approval_timeout_s?: number | null;
  /** Default `deny`. */
  on_approval_timeout?: (typeof ON_APPROVAL_TIMEOUT)[number] | null;
  /** How long a call may wait for its result, in seconds; null waits on. Absent: as the session says. */
  timeout_s?: number | null;
  /** Default `error`. */
  on_timeout?: (typeof ON_TIMEOUT)[number] | null;
  /** After so many failures in a run the tool is offered no more. */
  max_retries?: number | null;
  /** Most tokens of a result that the model sees. */
  max_result_tokens?: number | null;
  /** Asks the provider for arguments that fit the schema, where it can. */
  strict?: boolean | null;
  /** Keeps the definition out of the requests until the model has found it with `search_tools`. */
  defer_loading?: boolean | null;
  /** Arguments of good calls, told to the model. */
  examples?: JsonObject[] | null;
}

/** One request of a model for a tool, in the reference's shape. `id` is ours and unique. */
export interface ToolRequest {
  tool_name: string;
  args: JsonObject;
  id: string;
}

/** Letters, digits, `_` and `-`, first a letter or `_`, at most 64: what every provider accepts. */
const TOOL_NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_-]{0,63}$";

/** The tool through which a model gives a structured answer. It never reaches the caller. */
export const SUBMIT_ANSWER = "submit_answer";

/** The tool through which a model finds deferred tools. It runs in the worker. */
export const SEARCH_TOOLS = "search_tools";

/** Names of server-side tools, of this version and the next ones: a caller's tool cannot have one. */
const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set([
  SEARCH_TOOLS,
  SUBMIT_ANSWER,
  "load_skill",
  "dispatch_subagent",
  "list_subagents",
  "message_subagent",
  "stop_subagent",
  "run_code",
  "bash",
]);

/** How many tools one session may have. More would not fit a model's request. */
export const MAX_TOOLS = 256;

/** Longest wait for a result or a decision, in seconds: a year. */
export const MAX_TIMEOUT_S = 31_536_000;

/** Longest JSON text of one call's arguments: clients send them back with the result, in a body with a limit. */
export const MAX_ARGUMENT_CHARACTERS = 1_000_000;

/** Longest JSON text of all schemas of a list together, in characters: checking them holds up the process. */
const MAX_SCHEMAS_CHARACTERS = 262_144;

/** Longest time for checking a whole list, in milliseconds. */
const CHECK_BUDGET_MS = 3_000;

/** Longest time for checking the examples of a whole list, in milliseconds of computing. */
const EXAMPLES_BUDGET_MS = 500;

const NAME = new RegExp(TOOL_NAME_PATTERN);

/**
 * The faults of a list of tools, empty when every definition can be stored and offered to a model.
 *
 * @param loc the path of the list in the request, put before each fault's own path
 */
export function findToolFaults(tools: readonly ToolDefinition[], loc: (string | number)[]): Fault[] {
  if (tools.length > MAX_TOOLS) {
    const msg = `${tools.length} tools are too many; a session may have ${MAX_TOOLS}`;
    return [{ loc, msg, type: "too_long" }];
  }
  const characters = tools.reduce((sum, tool) => sum + stringifyJson(tool.input_schema ?? {}).length, 0);
  if (characters > MAX_SCHEMAS_CHARACTERS) {
    const msg = `the tools' schemas have ${characters} characters together; at most ${MAX_SCHEMAS_CHARACTERS} are taken`;
    return [{ loc, msg, type: "too_long" }];
  }
  const seen = new Set<string>();
  const deadline = performance.now() + CHECK_BUDGET_MS;
  const checkValue = createValueChecker(EXAMPLES_BUDGET_MS);
  return tools.flatMap((tool, index) => {
    if (performance.now() > deadline) {
      return [
        { loc: [...loc, index], msg: "the tools' schemas take too long to check", type: "tool_schema" },
      ];
    }
    const faults = findToolFault(tool, [...loc, index], seen.has(tool.name));
    seen.add(tool.name);
    return faults.length > 0 ? faults : findExampleFaults(tool, [...loc, index], checkValue);
  });
}

/** Fields that are calculated with. */
const TOOL_NUMBERS = ["timeout_s", "approval_timeout_s", "max_retries", "max_result_tokens"] as const;

function findToolFault(tool: ToolDefinition, loc: (string | number)[], isRepeated: boolean): Fault[] {
  const name = JSON.stringify(tool.name);
  if (!NAME.test(tool.name)) {
    const msg = `tool name ${name} is not allowed: letters, digits, _ and -, first a letter or _, at most 64`;
    return [{ loc: [...loc, "name"], msg, type: "tool_name" }];
  }
  if (RESERVED_TOOL_NAMES.has(tool.name)) {
    const msg = `tool name ${name} is taken by a server-side tool; choose another`;
    return [{ loc: [...loc, "name"], msg, type: "tool_name_reserved" }];
  }
  if (isRepeated) {
    const msg = `tool name ${name} is used twice; names are unique in a session`;
    return [{ loc: [...loc, "name"], msg, type: "tool_name_duplicate" }];
  }
  const inexact = TOOL_NUMBERS.find((field) => hasExactNumber(tool[field]));
  if (inexact) {
    const msg = `tool ${name}: ${inexact} is ${tool[inexact]}; a number that a 64-bit float holds is right`;
    return [{ loc: [...loc, inexact], msg, type: "number_exact" }];
  }
  const fault = tool.input_schema && findSchemaFault(tool.input_schema);
  if (!fault) return [];
  const msg = `tool ${name}: ${fault.msg}`;
  return [{ loc: [...loc, "input_schema", ...fault.path], msg, type: "tool_schema" }];
}

/** Each example must be what the tool would be called with: a model does as it is shown. */
function findExampleFaults(
  tool: ToolDefinition & { examples?: JsonValue[] | null },
  loc: (string | number)[],
  checkValue: ValueChecker,
): Fault[] {
  const examples = Array.isArray(tool.examples) ? tool.examples : [];
  return examples.flatMap((example, index): Fault[] => {
    const faults = isJsonObject(example)
      ? checkValue(tool.input_schema ?? {}, example)
      : ["must be an object"];
    if (faults.length === 0) return [];
    const msg = `tool ${JSON.stringify(tool.name)}: the example does not fit input_schema: ${faults.join("; ")}`;
    return [{ loc: [...loc, "examples", index], msg, type: "tool_example" }];
  });
}
