// The catalogue of agents: create, replace, change, delete. Checks of a definition's form are the API's.
import { type AgentDefinition, RESERVED_NAMESPACE } from "../domain/agents.ts";
import { invalidRequest, TandemError } from "../domain/errors.ts";
import type { Engine } from "../engine.ts";
import { insertAgent, updateAgent } from "../postgres/agents.ts";
import { getAgent } from "../queries/find-agent.ts";

/**
 * Registers an agent.
 *
 * @throws {TandemError} `agent_exists`, or `invalid_request` when the name is in the server's namespace
 */
export async function createAgent(
  engine: Engine,
  organizationId: string,
  agent: AgentDefinition,
): Promise<AgentDefinition> {
  if (agent.name.startsWith(RESERVED_NAMESPACE)) {
    const msg = `names that start with ${RESERVED_NAMESPACE} are the server's own; choose another`;
    throw invalidRequest(["body", "name"], msg, "agent_name_reserved");
  }
  if (await insertAgent(engine.pool, organizationId, agent)) return agent;
  throw new TandemError("agent_exists", `An agent ${JSON.stringify(agent.name)} exists.`);
}

/**
 * Replaces a registered agent's definition. Running sessions keep the one they started with.
 *
 * @throws {TandemError} `agent_not_found`, `agent_read_only`
 */
export async function replaceAgent(
  engine: Engine,
  organizationId: string,
  agent: AgentDefinition,
): Promise<AgentDefinition> {
  await getWritableAgent(engine, organizationId, agent.name);
  if (await updateAgent(engine.pool, organizationId, agent)) return agent;
  throw notFound(agent.name);
}

/**
 * Deletes a registered agent. Its sessions stay.
 *
 * @throws {TandemError} `agent_not_found`, `agent_read_only`
 */
export async function deleteAgent(engine: Engine, organizationId: string, name: string): Promise<void> {
  await getWritableAgent(engine, organizationId, name);
  const { count } = await engine.catalogue.agent.deleteMany({ where: { organizationId, name } });
  if (count === 0) throw notFound(name);
}

/**
 * The registered agent, if it can be changed.
 *
 * @throws {TandemError} `agent_not_found`, `agent_read_only`
 */
export async function getWritableAgent(
  engine: Engine,
  organizationId: string,
  name: string,
): Promise<AgentDefinition> {
  const agent = await getAgent(engine, organizationId, name);
  if (!name.startsWith(RESERVED_NAMESPACE)) return agent;
  throw new TandemError(
    "agent_read_only",
    `Agent ${JSON.stringify(name)} is built in and cannot be changed.`,
  );
}

function notFound(name: string): TandemError {
  return new TandemError("agent_not_found", `There is no agent ${JSON.stringify(name)}.`);
}
