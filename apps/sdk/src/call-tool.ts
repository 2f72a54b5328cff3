// One call: from the request to the entry that is posted for it.
import { untilAborted } from "./abort-scope.ts";
import { describeError } from "./describe-error.ts";
import type { ErrorEvent, ToolRequest, ToolResultEvent } from "./generated/types.gen.ts";
import { GuardrailError, type GuardrailResult, type GuardrailStage, runGuardrails } from "./guardrails.ts";
import type { PermissionDecision, PermissionRequest } from "./permissions.ts";
import { runTool } from "./run-tool.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { isEnabled } from "./tool-definitions.ts";
import { toResultJson } from "./tool-result.ts";

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
  /** Called when the call may run, before its function is: until then nothing has taken effect. */
  onStart?(): Promise<void>;
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

/** A call on its way. */
interface Call {
  tool: Tool;
  request: ToolRequest;
  context: ToolContext;
  environment: CallEnvironment;
  guardrailResults: GuardrailResult[];
}

/** Runs the tool that a call names. Never throws: whatever goes wrong becomes an error that the model can read. */
export async function callTool(
  tools: readonly Tool[],
  request: ToolRequest,
  environment: CallEnvironment,
): Promise<CallOutcome> {
  const guardrailResults: GuardrailResult[] = [];
  try {
    const tool = findTool(tools, request.tool_name, environment);
    const context = toContext(environment);
    const result = await run({ tool, request, context, environment, guardrailResults });
    return {
      posted: { kind: "tool_result", tool_req: toEcho(request), result },
      guardrailResults,
      raised: null,
    };
  } catch (error) {
    return {
      posted: toErrorEntry(request, describeError(error)),
      guardrailResults,
      raised: error instanceof GuardrailError ? error : null,
    };
  }
}

/** The entry for a call that went wrong. */
export function toErrorEntry(call: ToolRequest, error: string): PostedResult {
  return { kind: "error_event", error, origin: "client", tool_req: toEcho(call) };
}

async function run(call: Call): Promise<unknown> {
  const { tool, context, environment } = call;
  const args = await untilAborted(prepare(call), context.signal);
  await environment.onStart?.();
  const value = await runTool(tool, args, context);
  const result = await toResultJson(value).catch((cause: unknown) => {
    throw new TypeError(`Tool ${JSON.stringify(tool.name)} returned ${describeError(cause)}`, { cause });
  });
  await guard(call, "output", result);
  return result;
}

/** The arguments, once the call may run with them. A copy: what a function does to them is not to be posted. */
async function prepare(call: Call): Promise<unknown> {
  call.context.signal.throwIfAborted();
  const asked = JSON.parse(JSON.stringify(call.request.args ?? {}));
  const args = await checkArgs(call, asked);
  const edited = await askIfNeeded(call, asked, args);
  return edited ? checkArgs(call, edited) : args;
}

function findTool(tools: readonly Tool[], name: string, { context, sessionId }: CallEnvironment): Tool {
  const shown = JSON.stringify(name);
  const tool = tools.find((tool) => tool.name === name);
  if (!tool) {
    const known = tools.map((tool) => tool.name).join(", ");
    throw new Error(`There is no tool named ${shown} here. Known tools: ${known}.`);
  }
  if (!isEnabled(tool, { context, sessionId })) throw new Error(`The tool ${shown} cannot be used now.`);
  return tool;
}

function toContext(environment: CallEnvironment): ToolContext {
  const { sessionId, callId, signal, context } = environment;
  return {
    sessionId,
    callId,
    idempotencyKey: `${sessionId}/${callId}`,
    signal,
    progress: (value) => environment.progress(value).catch(() => {}),
    context,
  };
}

/** The arguments for `fn`: they fit the schema, and the input guardrails let them pass. */
async function checkArgs(call: Call, asked: Record<string, unknown>): Promise<unknown> {
  const parsed = await call.tool.parse(asked);
  if (!parsed.ok) {
    throw new Error(`The arguments do not fit: ${parsed.error}. Call it again with arguments that fit.`);
  }
  await guard(call, "input", parsed.value);
  return parsed.value;
}

async function guard(call: Call, stage: GuardrailStage, value: unknown): Promise<void> {
  const { tool, context, guardrailResults } = call;
  const guardrails = stage === "input" ? tool.inputGuardrails : tool.outputGuardrails;
  if (!guardrails) return;
  await runGuardrails(guardrails, {
    value,
    stage,
    context: { ...context, tool: tool.name },
    guardrailResults,
  });
}

/** Asks for a permission where the tool wants one. Gives the arguments that whoever allowed it put in their place. */
async function askIfNeeded(
  { tool, request, context, environment }: Call,
  asked: Record<string, unknown>,
  args: unknown,
): Promise<Record<string, unknown> | undefined> {
  const { requiresApproval } = tool;
  const isNeeded =
    typeof requiresApproval === "function" ? await requiresApproval(args, context) : requiresApproval;
  if (!isNeeded) return undefined;
  const { sessionId, signal, askPermission } = environment;
  if (!askPermission) {
    throw new Error(
      "The call needs a permission, and nobody here can give one (there is no onPermissionRequest). It was not run.",
    );
  }
  const decision = await askPermission({
    source: "tool",
    sessionId,
    call: request,
    tool,
    args: asked,
    reason: null,
    deadline: null,
    signal,
  });
  const verdict = typeof decision === "string" ? { decision } : decision;
  if (verdict.decision === "allow") return "args" in verdict ? verdict.args : undefined;
  const { message } = verdict as { message?: string };
  throw new Error(`The call was denied, and not run${message?.trim() ? `: ${message}` : "."}`);
}

function toEcho({ tool_name, args, id }: ToolRequest): ToolRequest {
  return { tool_name, args: args ?? {}, id: id ?? null };
}
