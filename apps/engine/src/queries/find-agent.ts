import { type AgentDefinition, RESERVED_NAMESPACE, SYSTEM_ORGANIZATION } from "../domain/agents.ts";
import { TandemError } from "../domain/errors.ts";
import type { Engine } from "../engine.ts";
import { readDefinition } from "../postgres/agents.ts";

/** Finds an agent that the organization can see: its own, or a built-in one. Null when there is none. */
export async function findAgent(
  engine: Engine,
  organizationId: string,
  name: string,
): Promise<AgentDefinition | null> {
  if (name.includes("\u0000")) return null;
  const owner = name.startsWith(RESERVED_NAMESPACE)
    ? { organizationName: SYSTEM_ORGANIZATION }
    : { organizationId };
  return readDefinition(engine.pool, owner, name);
}

/** Like {@link findAgent}, and throws `agent_not_found` when there is none. */
export async function getAgent(
  engine: Engine,
  organizationId: string,
  name: string,
): Promise<AgentDefinition> {
  const agent = await findAgent(engine, organizationId, name);
  if (!agent) throw new TandemError("agent_not_found", `There is no agent ${JSON.stringify(name)}.`);
  return agent;
}

/** How deep registered subagents are followed: a ring of agents must not be followed for ever. */
const MAX_RESOLVE_DEPTH = 8;

/** The agent with the names of its registered subagents replaced by their definitions. Unknown names stay names. */
export async function resolveAgent(
  engine: Engine,
  organizationId: string,
  agent: AgentDefinition,
  depth = 0,
): Promise<AgentDefinition> {
  if (!agent.subagents || depth >= MAX_RESOLVE_DEPTH) return agent;
  const subagents = await Promise.all(
    agent.subagents.map(async (entry) => {
      const found = typeof entry === "string" ? await findAgent(engine, organizationId, entry) : entry;
      return found ? resolveAgent(engine, organizationId, found, depth + 1) : entry;
    }),
  );
  return { ...agent, subagents };
}
