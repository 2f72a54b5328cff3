import type { SessionRequest } from "./session-request.ts";

/**
 * What remains of an ephemeral session's request when its content is removed: limits and labels. Fields are named one by
 * one, so that a new one that holds content does not remain by accident.
 */
export function toLastingRequest(request: SessionRequest, agentName: string): SessionRequest {
  const { builtins, permissions, tool_timeout_s, approval_timeout_s } = request;
  return {
    agent: agentName,
    messages: null,
    max_steps: request.max_steps,
    max_time_s: request.max_time_s,
    idle_timeout_s: request.idle_timeout_s,
    delete_after_min: request.delete_after_min,
    delete_screenshot_after_min: request.delete_screenshot_after_min,
    queue: request.queue,
    repeat_limit: request.repeat_limit,
    error_limit: request.error_limit,
    token_budget: request.token_budget,
    group_id: request.group_id,
    parent_session_id: request.parent_session_id,
    ...(builtins === undefined ? {} : { builtins }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(tool_timeout_s === undefined ? {} : { tool_timeout_s }),
    ...(approval_timeout_s === undefined ? {} : { approval_timeout_s }),
    ephemeral: true,
    overrides: {},
  };
}
