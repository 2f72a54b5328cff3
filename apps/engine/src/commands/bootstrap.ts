import { BUILT_IN_AGENTS, SYSTEM_ORGANIZATION } from "../domain/agents.ts";
import { hashApiKey } from "../domain/api-keys.ts";
import { type Catalogue, toDefinitionColumn } from "../postgres/catalogue.ts";

/** The organization of the first key. */
export const DEFAULT_ORGANIZATION = "default";

/** The user of keys that name none. */
const DEFAULT_USER = "default";

/**
 * Makes what every installation has: the built-in agents and, when given, a first key of organization `default`.
 * Safe to run at every start and in several processes at once.
 */
export async function bootstrap(catalogue: Catalogue, options: { apiKey?: string }): Promise<void> {
  const system = await ensureOrganization(catalogue, SYSTEM_ORGANIZATION);
  for (const agent of BUILT_IN_AGENTS) {
    const definition = toDefinitionColumn(agent);
    const row = { organizationId: system, name: agent.name, description: agent.description, definition };
    await catalogue.agent.upsert({
      where: { organizationId_name: { organizationId: system, name: agent.name } },
      create: row,
      update: { description: agent.description, definition },
    });
  }
  if (options.apiKey === undefined) return;
  const organizationId = await ensureOrganization(catalogue, DEFAULT_ORGANIZATION);
  const keyHash = hashApiKey(options.apiKey);
  await catalogue.apiKey.upsert({
    where: { keyHash },
    create: { organizationId, name: "first", userName: DEFAULT_USER, keyHash },
    update: {},
  });
}

async function ensureOrganization(catalogue: Catalogue, name: string): Promise<string> {
  const { id } = await catalogue.organization.upsert({ where: { name }, create: { name }, update: {} });
  return id;
}
