// The normalised request of a session: what `Session.request` shows.
import type { AgentSettings } from "./agent-settings.ts";
import type { AgentDefinition } from "./agents.ts";
import type { JsonObject } from "./json.ts";
import type { UserMessage } from "./messages.ts";

/**
 * A session's request with its defaults filled in. `agent` is as the caller gave it: a name or a definition. Settings that
 * the caller did not give are the agent's, and absent.
 */
export interface SessionRequest extends AgentSettings {
  agent: string | AgentDefinition;
  messages: UserMessage[] | null;
  max_steps: number | null;
  max_time_s: number | null;
  idle_timeout_s: number | null;
  delete_after_min: number | null;
  delete_screenshot_after_min: number | null;
  queue: boolean;
  /** How often in a row a call with the same arguments may be made. */
  repeat_limit: number | null;
  /** How often in a row the same error may come back. */
  error_limit: number | null;
  /** Tokens that one run may use. */
  token_budget: number | null;
  group_id: string | null;
  parent_session_id: string | null;
  overrides: JsonObject;
}
