// What one wait brings to the calls that are run for it.
import type { CallOutcome } from "./call-tool.ts";
import type { ToolRequest } from "./generated/types.gen.ts";
import type { GuardrailResult } from "./guardrails.ts";
import type { AskPermission } from "./permissions.ts";
import { RunSlots } from "./slots.ts";
import type { Tool } from "./tool.ts";

/** What a {@link RunEnvironment} is made of. */
export interface RunEnvironmentOptions {
  tools: readonly Tool[];
  context: unknown;
  maxConcurrency: number | undefined;
  askPermission: AskPermission | null;
  /** Ends the wait: a result cannot be delivered, the journal fails, or a guardrail says so. */
  onFailure: (error: unknown) => void;
}

/** The tools of one wait, what they run in, and what came of them. */
export class RunEnvironment {
  readonly tools: readonly Tool[];
  readonly context: unknown;
  readonly askPermission: AskPermission | null;
  readonly slots: RunSlots;
  readonly onFailure: (error: unknown) => void;
  /** What guardrails said, in order. */
  readonly guardrailResults: GuardrailResult[] = [];
  /** How long the handlers of this process took, in ms, by call. */
  readonly durationsMs = new Map<string, number>();

  constructor(options: RunEnvironmentOptions) {
    this.tools = options.tools;
    this.context = options.context;
    this.askPermission = options.askPermission;
    this.slots = new RunSlots(options.maxConcurrency);
    this.onFailure = options.onFailure;
  }

  /** The tool that a call names. */
  findTool(call: ToolRequest): Tool | undefined {
    return this.tools.find(({ name }) => name === call.tool_name);
  }

  /** Takes down what came of a call. */
  onOutcome(key: string, { guardrailResults, raised }: CallOutcome, durationMs: number): void {
    this.durationsMs.set(key, Math.round(durationMs));
    this.guardrailResults.push(...guardrailResults);
    if (raised) this.onFailure(raised);
  }
}
