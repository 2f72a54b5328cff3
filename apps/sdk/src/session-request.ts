// From the options of a session to the body that creates it.
import { toAnswerFormat } from "./answer-schema.ts";
import { TandemError } from "./errors.ts";
import type { Agent, SessionRequest } from "./generated/types.gen.ts";
import { isList, type Message, toUserMessage } from "./messages.ts";
import type { ToolSchema } from "./schemas/tool-schema.ts";
import { isEnabled, type ToolSource, toDefinition, toTools } from "./tool-definitions.ts";
import { toWireFields } from "./wire-fields.ts";

/** What a session is made of. Only `agent` is required. */
export interface SessionOptions {
  /** The name of a registered agent, or a definition. */
  agent: string | Agent;
  /** The first messages. */
  messages?: Message | readonly Message[] | undefined;
  /** Functions of this process that the agent can call, beside the tools that it has. */
  tools?: readonly ToolSource[] | undefined;
  /** A value of yours that tools, guardrails and `enabled` get as `context`. It stays in this process. */
  context?: unknown;
  /**
   * What the answer must fit: a JSON Schema, or a schema of Zod or another Standard Schema library; its top level is an
   * object. The answer is then data of that type, not text.
   */
  answerSchema?: ToolSchema | undefined;
  /** After so many steps one last step without tools must answer. Default: no bound. */
  maxSteps?: number | undefined;
  /**
   * After so many seconds of work and of waiting for results one last step without tools must answer. Default: no
   * bound.
   */
  maxTimeS?: number | undefined;
  /** How long the session stays open for a message after each answer, in seconds. Default: it ends with the answer. */
  idleTimeoutS?: number | undefined;
  /** In how many turns in a row the same calls may be made; null for any number. Default: 50. */
  repeatLimit?: number | null | undefined;
  /** In how many turns in a row the same error may come back; null for any number. Default: 25. */
  errorLimit?: number | null | undefined;
  /** Tokens, input and output, that one run may use. Default: no bound. */
  tokenBudget?: number | null | undefined;
  /** How long the session is kept after its end, in minutes; null for good. Default: 43,200, which is 30 days. */
  deleteAfterMin?: number | null | undefined;
  deleteScreenshotAfterMin?: number | null | undefined;
  /** Whether to wait for a free slot when too many sessions are active, in place of an error. Default: true. */
  queue?: boolean | undefined;
  /** Groups sessions; lists can be narrowed by it. */
  groupId?: string | undefined;
  parentSessionId?: string | undefined;
  /** The whole system prompt, in place of the server's and of the agent's instructions. Default: the agent's. */
  systemPrompt?: string | undefined;
  /** False offers the model nothing but your tools. Default: the agent's setting, which is true when it has none. */
  builtins?: boolean | undefined;
  /** For the first step: `auto`, `required`, or the name of a tool. Default: the agent's setting, or `auto`. */
  toolChoice?: string | undefined;
  /** Removes the session's content 60 s after its end. Default: the agent's setting, or false. */
  ephemeral?: boolean | undefined;
  /** `host` asks for no approvals: your handlers decide. Default: the agent's setting, or `ask`. */
  permissions?: "ask" | "host" | undefined;
  /** Has the text of every step told while it is made, from the first. Default: the agent's setting, or false. */
  stream?: boolean | undefined;
  /** How long a call may wait for its result, in seconds; null for ever. Default: the agent's setting, or for ever. */
  toolTimeoutS?: number | null | undefined;
  /** How long a call may wait for its approval, in seconds; null for ever. Default: the agent's setting, or for ever. */
  approvalTimeoutS?: number | null | undefined;
  /**
   * For 24 hours the same key with the same request gives the same session: a program that starts again does not start
   * its session twice. With a key, creation is also tried again after an outage.
   */
  idempotencyKey?: string | undefined;
  /** Dotted paths to values that replace those of the agent, for example `agent.instructions`. */
  overrides?: Record<string, unknown> | undefined;
}

/**
 * The body of `createSession`.
 *
 * @throws {TandemError} when tools or answer schemas are given twice
 */
export function toSessionRequest(options: SessionOptions): SessionRequest {
  const { messages, answerSchema, context } = options;
  const overrides = { ...options.overrides };
  const tools = toTools(options.tools ?? []).filter((tool) => isEnabled(tool, { context, sessionId: null }));
  if (tools.length > 0) {
    setOverride(overrides, "agent.tools", { value: tools.map(toDefinition), option: "tools" });
  }
  if (answerSchema && typeof options.agent === "string") {
    setOverride(overrides, "agent.answer_format", {
      value: toAnswerFormat(answerSchema),
      option: "answerSchema",
    });
  }
  const fields = {
    ...options,
    messages: messages !== undefined && isList(messages) ? messages.map(toUserMessage) : messages,
    overrides: Object.keys(overrides).length > 0 ? overrides : undefined,
  };
  return { agent: withAnswerFormat(options.agent, answerSchema), ...toWireFields(fields, SAME_FIELDS) };
}

/** Options that the wire has under the same names. */
const SAME_FIELDS = [
  "messages",
  "overrides",
  "maxSteps",
  "maxTimeS",
  "idleTimeoutS",
  "toolTimeoutS",
  "approvalTimeoutS",
  "repeatLimit",
  "errorLimit",
  "tokenBudget",
  "deleteAfterMin",
  "deleteScreenshotAfterMin",
  "queue",
  "groupId",
  "parentSessionId",
  "systemPrompt",
  "builtins",
  "toolChoice",
  "ephemeral",
  "permissions",
  "stream",
] as const satisfies readonly (keyof SessionOptions)[];

function setOverride(
  overrides: Record<string, unknown>,
  path: string,
  { value, option }: { value: unknown; option: string },
): void {
  if (path in overrides) throw new TandemError(`Give either \`${option}\` or overrides["${path}"], not both`);
  overrides[path] = value;
}

function withAnswerFormat(agent: string | Agent, schema: ToolSchema | undefined): string | Agent {
  if (typeof agent === "string" || !schema) return agent;
  if (agent.answer_format) {
    throw new TandemError("Give either `answerSchema` or the agent's `answer_format`, not both");
  }
  return { ...agent, answer_format: toAnswerFormat(schema) };
}
