// Permissions: somebody on this side says whether a call may run.
import type { ToolRequest } from "./generated/types.gen.ts";
import type { Tool } from "./tool.ts";

/** A call that needs a decision. */
export interface PermissionRequest {
  /** Who asks: the server (`approval: "always"`), or the tool's own `requiresApproval`. */
  source: "server" | "tool";
  sessionId: string;
  call: ToolRequest;
  /** The tool; null when it does not live here. */
  tool: Tool | null;
  /** The arguments as the model wrote them. */
  args: Record<string, unknown>;
  /** Why it is asked; null when nobody said. */
  reason: string | null;
  /** Until when a decision counts, as an RFC 3339 time; null for ever. */
  deadline: string | null;
  /** Aborted when the decision is not needed any more. */
  signal: AbortSignal;
}

/** The answer to a {@link PermissionRequest}. The bare words stand for decisions without more. */
export type PermissionDecision =
  | "allow"
  | "deny"
  | {
      decision: "allow";
      /** Other arguments than the model's. They must fit the tool's schema. */
      args?: Record<string, unknown> | undefined;
      /** `session`: counts for all calls of this tool in the session from now on. */
      remember?: "session" | undefined;
    }
  | {
      decision: "deny";
      /** Why. The model reads it. */
      message?: string | undefined;
      remember?: "session" | undefined;
    };

/** Answers requests for permission. */
export type AskPermission = (request: PermissionRequest) => PermissionDecision | Promise<PermissionDecision>;
