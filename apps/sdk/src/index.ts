// What `@tandem/sdk` offers. Everything here works in Node and in browsers.
export { type RunSessionOptions, type StartSessionOptions, TandemClient } from "./client.ts";
export { APIError, type APIErrorFields, ConnectionError, TandemError, TimeoutError } from "./errors.ts";
export type * from "./generated/types.gen.ts";
export type { Message } from "./messages.ts";
export { type ChangesOptions, type RequestOptions, SessionHandle } from "./session-handle.ts";
export type { SessionOptions } from "./session-request.ts";
export type { DefaultAnswer, SessionResult, SessionUsage, TokenUsage } from "./session-result.ts";
export type { TandemClientOptions } from "./settings.ts";
export { type JsonSchema, type Tool, type ToolContext, tool } from "./tool.ts";
export type { WaitOptions } from "./wait-for-session.ts";
