// Guardrails: looks at the arguments of a call before it runs, and at its result before that is posted.
import { describeError } from "./describe-error.ts";
import { TandemError } from "./errors.ts";
import type { ToolContext } from "./tool.ts";

/** What a guardrail makes of a value. Made by {@link allow}, {@link reject} and {@link raise}. */
export type GuardrailVerdict =
  | { readonly verdict: "allow"; readonly message: null }
  | { readonly verdict: "reject" | "raise"; readonly message: string };

/** What a guardrail gets beside the value. */
export interface GuardrailContext<Context = unknown> extends ToolContext<Context> {
  /** The name of the tool. */
  tool: string;
}

/** A check of the arguments (after validation) or of the result (as it would be posted) of each call of a tool. */
export interface Guardrail<Value = unknown> {
  /** For {@link GuardrailResult}. */
  readonly name: string;
  /** What it throws counts as a rejection. */
  run(value: Value, context: GuardrailContext): GuardrailVerdict | Promise<GuardrailVerdict>;
}

/** Where a guardrail looks: at arguments, or at a result. */
export type GuardrailStage = "input" | "output";

/** What a guardrail said of one call. */
export interface GuardrailResult {
  /** The guardrail's name. */
  guardrail: string;
  stage: GuardrailStage;
  /** The tool's name. */
  tool: string;
  callId: string;
  verdict: GuardrailVerdict["verdict"];
  /** Why; null for `allow`. */
  message: string | null;
}

/** The value may pass. */
export function allow(): GuardrailVerdict {
  return { verdict: "allow", message: null };
}

/** The value is held back. The model reads the message in its place, and the session goes on. */
export function reject(message: string): GuardrailVerdict {
  return { verdict: "reject", message };
}

/** The run ends: the session is cancelled, and the wait for it throws a {@link GuardrailError}. */
export function raise(message: string): GuardrailVerdict {
  return { verdict: "raise", message };
}

/** A guardrail ended the run. */
export class GuardrailError extends TandemError {
  override readonly name = "GuardrailError";
  readonly sessionId: string;
  /** What the guardrails of the run said, the one that ended it last. */
  readonly guardrailResults: readonly GuardrailResult[];

  constructor(message: string, fields: { sessionId: string; guardrailResults: readonly GuardrailResult[] }) {
    super(message);
    this.sessionId = fields.sessionId;
    this.guardrailResults = fields.guardrailResults;
  }
}

/**
 * Runs guardrails in order, until one holds the value back, and writes down what each said.
 *
 * @throws {Error} when one rejects, with its message; a {@link GuardrailError} when one ends the run
 */
export async function runGuardrails(
  guardrails: readonly Guardrail[],
  call: {
    value: unknown;
    stage: GuardrailStage;
    context: GuardrailContext;
    guardrailResults: GuardrailResult[];
  },
): Promise<void> {
  const { value, stage, context, guardrailResults } = call;
  for (const guardrail of guardrails) {
    const { verdict, message } = await ask(guardrail, value, context);
    const { tool, callId, sessionId } = context;
    guardrailResults.push({ guardrail: guardrail.name, stage, tool, callId, verdict, message });
    if (verdict === "allow") continue;
    if (verdict === "reject") throw new Error(message);
    throw new GuardrailError(`Guardrail ${JSON.stringify(guardrail.name)} ended the run: ${message}`, {
      sessionId,
      guardrailResults: [...guardrailResults],
    });
  }
}

/** A guardrail that fails holds the value back: nobody has looked at it. */
async function ask(
  guardrail: Guardrail,
  value: unknown,
  context: GuardrailContext,
): Promise<GuardrailVerdict> {
  try {
    const said = await guardrail.run(value, context);
    if (verdicts.includes(said?.verdict)) return said;
    return reject(`The guardrail ${JSON.stringify(guardrail.name)} gave no verdict.`);
  } catch (error) {
    return reject(`The guardrail ${JSON.stringify(guardrail.name)} failed: ${describeError(error)}`);
  }
}

const verdicts: unknown[] = ["allow", "reject", "raise"] satisfies GuardrailVerdict["verdict"][];
