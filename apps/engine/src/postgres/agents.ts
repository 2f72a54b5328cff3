// Definitions of agents, in plain SQL: Prisma's client reads and writes JSON through doubles.

import type { AgentDefinition } from "../domain/agents.ts";
import { stringifyJson } from "../domain/json.ts";
import { toText } from "../domain/text.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { PAGE_BYTES } from "./read-events.ts";

/** Stores a new agent; false when the organization has one of that name. */
export async function insertAgent(
  db: Queryable,
  organizationId: string,
  agent: AgentDefinition,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO agents (organization_id, name, description, definition) VALUES ($1, $2, $3, $4)
     ON CONFLICT (organization_id, name) DO NOTHING`,
    toValues(organizationId, agent),
  );
  return rowCount === 1;
}

/** Replaces an agent's definition; false when there is none of that name. */
export async function updateAgent(
  db: Queryable,
  organizationId: string,
  agent: AgentDefinition,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE agents SET description = $3, definition = $4, updated_at = now()
      WHERE organization_id = $1 AND name = $2`,
    toValues(organizationId, agent),
  );
  return rowCount === 1;
}

/** The definition of an organization's agent; null when it has none of that name. */
export async function readDefinition(
  db: Queryable,
  owner: { organizationId: string } | { organizationName: string },
  name: string,
): Promise<AgentDefinition | null> {
  const isById = "organizationId" in owner;
  const { rows } = await db.query<{ definition: AgentDefinition }>(
    prepared(
      `SELECT definition FROM agents WHERE name = $2 AND organization_id =
         ${isById ? "$1" : "(SELECT id FROM organizations WHERE name = $1)"}`,
      [isById ? owner.organizationId : owner.organizationName, name],
    ),
  );
  return rows[0]?.definition ?? null;
}

/**
 * Definitions by the ids of their rows; null when they are more than one reply holds. An agent that is gone is left
 * out.
 */
export async function readDefinitions(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, AgentDefinition> | null> {
  const { rows } = await db.query<{ id: string; definition: AgentDefinition | null }>(
    `SELECT id, CASE WHEN bytes < ${PAGE_BYTES} THEN definition END AS definition
       FROM (SELECT id, definition, sum(octet_length(definition::text)) OVER () AS bytes
               FROM agents WHERE id = ANY($1::uuid[])) AS sized`,
    [ids],
  );
  const found = rows.flatMap(({ id, definition }) =>
    definition === null ? [] : [[id, definition] as const],
  );
  return found.length < rows.length ? null : new Map(found);
}

function toValues(organizationId: string, agent: AgentDefinition): string[] {
  return [organizationId, agent.name, toText(agent.description), stringifyJson(agent)];
}
