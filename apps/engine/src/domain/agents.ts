// Agents as they are defined, stored and run.
import type { AgentSettings, APPROVAL_DEFAULTS } from "./agent-settings.ts";
import type { JsonObject } from "./json.ts";
import type { ToolDefinition } from "./tools.ts";

/** An agent's definition in the reference's shape. Lists hold names of registered things or inline objects. */
export interface AgentDefinition extends AgentSettings {
  name: string;
  description: string;
  environments: (string | EnvironmentDefinition)[];
  model?: string | null;
  instructions?: string | null;
  subagents?: (string | AgentDefinition)[] | null;
  skills?: (string | SkillDefinition)[] | null;
  answer_format?: JsonObject | null;
  tools?: ToolDefinition[] | null;
  /** Which of its tools need approval that do not say. Default `never`. */
  approval?: (typeof APPROVAL_DEFAULTS)[number] | null;
}

/** A skill: a text that an agent can read when it needs it. */
export interface SkillDefinition {
  name: string;
  description: string;
  body: string;
  source?: string | null;
  url_pattern?: string | null;
}

/** An environment: its id, its kind, and what its kind adds. */
export type EnvironmentDefinition = JsonObject & { id: string; kind: string };

/** The namespace of agents that come with the server. Nobody can register or change one. */
export const RESERVED_NAMESPACE = "tandem/";

/** The organization that owns the built-in agents. It has no keys. */
export const SYSTEM_ORGANIZATION = "tandem";

/** Names of agents: lowercase segments of at most 63 characters, at most one prefix. */
export const AGENT_NAME_PATTERN =
  "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?/)?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$";

/** The agents that come with the server. */
export const BUILT_IN_AGENTS: readonly AgentDefinition[] = [
  {
    name: "tandem/assistant",
    description: "A general assistant that answers with the help of the tools that the caller brings.",
    environments: [],
    instructions:
      "You are a helpful assistant. Use the tools you are offered whenever they can tell you something that " +
      "you do not know for sure, several at once where the calls do not depend on each other. " +
      "Answer briefly and say plainly when something could not be found out.",
  },
];

/** Parts of an agent that this server stores but does not provide, in words for the session's events. */
export function listMissingParts(agent: AgentDefinition): string[] {
  const environments = agent.environments.map((entry) =>
    typeof entry === "string" ? `environment "${entry}"` : `environment "${entry.id}" of kind ${entry.kind}`,
  );
  const skills = (agent.skills ?? []).map((entry) => `skill "${nameOf(entry)}"`);
  const subagents = (agent.subagents ?? []).map((entry) => `subagent "${nameOf(entry)}"`);
  return [...environments, ...skills, ...subagents];
}

function nameOf(entry: string | { name?: unknown }): string {
  return typeof entry === "string" ? entry : String(entry.name);
}
