import { type AgentDefinition, SYSTEM_ORGANIZATION } from "../domain/agents.ts";
import { toText } from "../domain/text.ts";
import type { Engine } from "../engine.ts";
import { readDefinitions } from "../postgres/agents.ts";
import { refusePage } from "./refuse-page.ts";

/** How agents can be sorted; a minus means the other way round. */
export type AgentSort = "created_at" | "-created_at" | "agent_name" | "-agent_name";

/** Which agents to list. */
export interface AgentListOptions {
  organizationId: string;
  name?: string;
  /** Text that the name or the description holds, ignoring case. */
  search?: string;
  sort: AgentSort[];
  offset: number;
  limit: number;
}

/** One page of the agents that the organization can see, the built-in ones included. */
export async function listAgents(
  engine: Engine,
  options: AgentListOptions,
): Promise<{ items: AgentDefinition[]; total: number }> {
  const { organizationId } = options;
  const name = options.name === undefined ? undefined : toText(options.name);
  const search = options.search === undefined ? undefined : toText(options.search);
  const where = {
    AND: [
      { OR: [{ organizationId }, { organization: { name: SYSTEM_ORGANIZATION } }] },
      ...(name === undefined ? [] : [{ name }]),
      ...(search === undefined ? [] : [{ OR: [{ name: holds(search) }, { description: holds(search) }] }]),
    ],
  };
  const [rows, total] = await Promise.all([
    engine.catalogue.agent.findMany({
      where,
      select: { id: true },
      orderBy: [...options.sort.map(toOrder), { id: "asc" }],
      skip: options.offset,
      take: options.limit,
    }),
    engine.catalogue.agent.count({ where }),
  ]);
  const ids = rows.map((row) => row.id);
  const definitions = (await readDefinitions(engine.pool, ids)) ?? refusePage();
  return { items: ids.flatMap((id) => definitions.get(id) ?? []), total };
}

function holds(text: string) {
  // Prisma's `contains` is a LIKE pattern: its wildcards are ours to escape.
  return { contains: text.replace(/[\\%_]/g, "\\$&"), mode: "insensitive" as const };
}

function toOrder(sort: AgentSort) {
  const direction = sort.startsWith("-") ? ("desc" as const) : ("asc" as const);
  return sort.endsWith("created_at") ? { createdAt: direction } : { name: direction };
}
