import { BUILT_IN_AGENTS, SYSTEM_ORGANIZATION } from "../domain/agents.ts";
import { hashApiKey, toKeyHint } from "../domain/api-keys.ts";
import { type Catalogue, toDefinitionColumn } from "../postgres/catalogue.ts";

/** The organization of the first key. */
const DEFAULT_ORGANIZATION = "default";

/** The user of keys that name none. */
export const DEFAULT_USER = "default";

/**
 * Makes what every installation has: the built-in agents and, when given, a first key of organization `default`.
 * Safe to run at every start and in several processes at once.
 */
export async function bootstrap(catalogue: Catalogue, options: { apiKey?: string }): Promise<void> {
  const system = await ensureOrganization(catalogue, SYSTEM_ORGANIZATION);
  for (const { name, description, ...agent } of BUILT_IN_AGENTS) {
    const columns = { description, definition: toDefinitionColumn({ name, description, ...agent }) };
    const data = [{ organizationId: system, name, ...columns }];
    await catalogue.agent.createMany({ data, skipDuplicates: true });
    await catalogue.agent.updateMany({ where: { organizationId: system, name }, data: columns });
  }
  if (options.apiKey === undefined) return;
  const organizationId = await ensureOrganization(catalogue, DEFAULT_ORGANIZATION);
  const keyHash = hashApiKey(options.apiKey);
  const data = [
    { organizationId, name: "first", userName: DEFAULT_USER, keyHash, hint: toKeyHint(options.apiKey) },
  ];
  await catalogue.apiKey.createMany({ data, skipDuplicates: true });
}

/**
 * The id of an organization, which is made when it is new. `createMany` with `skipDuplicates` is one statement that
 * cannot conflict; Prisma's `upsert` reads first.
 */
export async function ensureOrganization(catalogue: Catalogue, name: string): Promise<string> {
  await catalogue.organization.createMany({ data: [{ name }], skipDuplicates: true });
  const { id } = await catalogue.organization.findUniqueOrThrow({ where: { name } });
  return id;
}
