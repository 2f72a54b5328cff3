// One call: from the request to the entry that is posted for it.
import type { ErrorEvent, ToolRequest, ToolResultEvent } from "./generated/types.gen.ts";
import type { GuardrailError, GuardrailResult } from "./guardrails.ts";
import type { PermissionDecision, PermissionRequest } from "./permissions.ts";
import type { Tool } from "./tool.ts";

/** What is posted for a call. */
export type PostedResult =
  | (ToolResultEvent & { kind: "tool_result" })
  | (ErrorEvent & { kind: "error_event"; tool_req: ToolRequest });

/** What a call runs in. */
export interface CallEnvironment {
  sessionId: string;
  callId: string;
  /** Aborted when nobody waits for the result any more. */
  signal: AbortSignal;
  /** The run's own value. */
  context: unknown;
  /** Shows a value to those who watch the session. A failure is left unheard. */
  progress(value: unknown): Promise<void>;
  /** Asks for a permission; null when nobody answers. */
  askPermission: ((request: PermissionRequest) => Promise<PermissionDecision>) | null;
}

/** What became of a call. */
export interface CallOutcome {
  /** What is posted for it. */
  posted: PostedResult;
  /** What the guardrails of the tool said, in order. */
  guardrailResults: GuardrailResult[];
  /** Set when a guardrail ends the run; `posted` then tells the model so, should the run go on. */
  raised: GuardrailError | null;
}

/** Runs the tool that a call names. Never throws: whatever goes wrong becomes an error that the model can read. */
export async function callTool(
  tools: readonly Tool[],
  call: ToolRequest,
  environment: CallEnvironment,
): Promise<CallOutcome> {
  return { posted: await runCall(tools, call, environment), guardrailResults: [], raised: null };
}

async function runCall(
  tools: readonly Tool[],
  call: ToolRequest,
  environment: CallEnvironment,
): Promise<PostedResult> {
  const tool = tools.find(({ name }) => name === call.tool_name);
  if (!tool) return toErrorEntry(call, unknownTool(tools, call.tool_name));
  try {
    const { sessionId, callId, signal, context } = environment;
    const value = await tool.fn(call.args ?? {}, {
      sessionId,
      callId,
      idempotencyKey: `${sessionId}/${callId}`,
      signal,
      progress: (value) => environment.progress(value),
      context,
    });
    return toResultEntry(call, value);
  } catch (error) {
    return toErrorEntry(call, describeError(error));
  }
}

/** The entry for a call that went wrong. */
export function toErrorEntry(call: ToolRequest, error: string): PostedResult {
  return { kind: "error_event", error, origin: "client", tool_req: toEcho(call) };
}

/** The value is copied, so that a repeated post has the same content even if the tool changes its object later. */
function toResultEntry(call: ToolRequest, value: unknown): PostedResult {
  const subject = `Tool ${JSON.stringify(call.tool_name)} returned a value that JSON cannot carry`;
  let json: string | undefined;
  try {
    json = JSON.stringify(value ?? null);
  } catch (error) {
    return toErrorEntry(call, `${subject}: ${describeError(error)}`);
  }
  if (json === undefined) return toErrorEntry(call, `${subject}: a ${typeof value}`);
  return { kind: "tool_result", tool_req: toEcho(call), result: JSON.parse(json) as unknown };
}

function toEcho({ tool_name, args, id }: ToolRequest): ToolRequest {
  return { tool_name, args: args ?? {}, id: id ?? null };
}

function unknownTool(tools: readonly Tool[], name: string): string {
  const known = tools.map((tool) => tool.name).join(", ");
  return `There is no tool named ${JSON.stringify(name)} here. Known tools: ${known}.`;
}

function describeError(error: unknown): string {
  const { message, name } = Object(error) as { message?: unknown; name?: unknown };
  for (const text of [message, name]) if (typeof text === "string" && text !== "") return text;
  try {
    return String(error);
  } catch {
    return "The tool failed with a value that has no text";
  }
}
