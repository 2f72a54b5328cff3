// Guardrails: looks at the arguments of a call before it runs, and at its result before that is posted.
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

/** What a guardrail said of one call. */
export interface GuardrailResult {
  /** The guardrail's name. */
  guardrail: string;
  stage: "input" | "output";
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
