// What `@tandem/sdk` offers. Everything here works in Node and in browsers.
export type { PermissionHandler } from "./approvals.ts";
export { type CallEnvironment, type CallOutcome, callTool, type PostedResult } from "./call-tool.ts";
export {
  type RunSessionOptions,
  type StartSessionOptions,
  type StartStreamOptions,
  TandemClient,
} from "./client.ts";
export {
  AnswerValidationError,
  APIError,
  type APIErrorFields,
  ConnectionError,
  PermissionRequiredError,
  SessionFailedError,
  TandemError,
  TimeoutError,
} from "./errors.ts";
export type * from "./generated/types.gen.ts";
export {
  allow,
  type Guardrail,
  type GuardrailContext,
  GuardrailError,
  type GuardrailResult,
  type GuardrailStage,
  type GuardrailVerdict,
  raise,
  reject,
} from "./guardrails.ts";
export type { Journal, JournalEntry } from "./journal.ts";
export type { Message } from "./messages.ts";
export type { AskPermission, PermissionDecision, PermissionRequest } from "./permissions.ts";
export type { FromSchema, JsonSchema } from "./schemas/json-schema.ts";
export type { SchemaIssue, StandardSchema } from "./schemas/standard-schema.ts";
export type { SchemaInput, SchemaOutput, ToolSchema } from "./schemas/tool-schema.ts";
export { type ServedCallEvent, type ServeToolsOptions, serveTools, type ToolServing } from "./serve-tools.ts";
export {
  type ChangesOptions,
  type RequestOptions,
  SessionHandle,
  type ToolCallsQuery,
} from "./session-handle.ts";
export type { SessionOptions } from "./session-request.ts";
export type { AnswerOf, DefaultAnswer, SessionResult, SessionUsage, TokenUsage } from "./session-result.ts";
export type { SessionStream, StreamItem, StreamSessionOptions } from "./session-stream.ts";
export type { TandemClientOptions } from "./settings.ts";
export type { StreamDelta } from "./stream-deltas.ts";
export {
  type EnabledContext,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type ToolSettings,
  tool,
} from "./tool.ts";
export type { ToolCallStatus, ToolCallSummary } from "./tool-calls.ts";
export { type ToolSource, toDefinitions } from "./tool-definitions.ts";
export type { ToolImage } from "./tool-images.ts";
export type { ToolResult, ToolReturn } from "./tool-result.ts";
export {
  combined,
  filtered,
  prefixed,
  renamed,
  type Toolset,
  type ToolsetFunction,
  toolset,
} from "./toolset.ts";
export type { WaitOptions } from "./wait-options.ts";
