// Settings of a run that an agent has as defaults and a session's request may set anew.
import type { Fault } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import type { ToolDefinition } from "./tools.ts";

/** Who decides on a call that needs approval: `ask` waits for an approval, `host` leaves it to the caller's handler. */
export const PERMISSIONS = ["ask", "host"] as const;

/** What an agent's tools do that do not say whether they need approval: none, those that act, or all. */
export const APPROVAL_DEFAULTS = ["never", "actuator", "always"] as const;

/** Settings of an agent or a session. What is absent, or null where null is no value of its own, is the next one's to say. */
export interface AgentSettings {
  /** Replaces the whole system prompt, instructions included, byte for byte. */
  system_prompt?: string | null;
  /** False offers nothing but the caller's tools. Default true. */
  builtins?: boolean | null;
  /** For the first step of a run: `auto`, `required`, or the name of a tool. */
  tool_choice?: string | null;
  /** Removes the session's content shortly after its end. */
  ephemeral?: boolean | null;
  permissions?: (typeof PERMISSIONS)[number] | null;
  /** Asks the model for its text as it is made, for whoever watches the session's stream. Default false. */
  stream?: boolean | null;
  /** How long a call may wait for its result, in seconds, where its tool does not say; null never ends by itself. */
  tool_timeout_s?: number | null;
  /** How long a call may wait for an approval, in seconds, where its tool does not say; null waits on. */
  approval_timeout_s?: number | null;
}

/** The names of {@link AgentSettings}. */
export const AGENT_SETTINGS = [
  "system_prompt",
  "builtins",
  "tool_choice",
  "ephemeral",
  "permissions",
  "stream",
  "tool_timeout_s",
  "approval_timeout_s",
] as const satisfies readonly (keyof AgentSettings)[];

/** Settings for which null is a value: it takes a limit away that the agent has. */
const NULL_IS_A_VALUE: ReadonlySet<keyof AgentSettings> = new Set(["tool_timeout_s", "approval_timeout_s"]);

/** The settings that are set, of an agent or a request. */
export function pickSettings(of: AgentSettings): AgentSettings {
  const isSet = (key: keyof AgentSettings) =>
    of[key] !== undefined && (of[key] !== null || NULL_IS_A_VALUE.has(key));
  return Object.fromEntries(AGENT_SETTINGS.filter(isSet).map((key) => [key, of[key]])) as JsonObject;
}

/** Words of `tool_choice` that name no tool. */
const CHOICE_WORDS: ReadonlySet<string> = new Set(["auto", "required"]);

/**
 * Settings that do not fit the tools they are to run with, of an agent whose settings are resolved.
 *
 * @param loc the path of the settings in the request, put before each fault's own
 */
export function findSettingFaults(
  agent: AgentSettings & { tools?: readonly ToolDefinition[] | null },
  loc: (string | number)[],
): Fault[] {
  const tools = agent.tools ?? [];
  const faults: Fault[] = [];
  const deferred = tools.find((tool) => tool.defer_loading);
  if (agent.builtins === false && deferred) {
    const msg = `builtins is false, but tool ${JSON.stringify(deferred.name)} is deferred: without search_tools no model finds it`;
    faults.push({ loc: [...loc, "builtins"], msg, type: "builtins_needed" });
  }
  const choice = agent.tool_choice ?? "auto";
  if (!CHOICE_WORDS.has(choice) && !tools.some(({ name }) => name === choice)) {
    const msg = `tool_choice ${JSON.stringify(choice)} is neither auto, required, nor the name of a tool of the session`;
    faults.push({ loc: [...loc, "tool_choice"], msg, type: "tool_choice" });
  }
  return faults;
}
