import { type ApiKeyView, toApiKeyView, withOrganization } from "../postgres/api-keys.ts";
import type { Catalogue } from "../postgres/catalogue.ts";

/** Which keys to list. Absent means all. */
export interface ApiKeyListOptions {
  /** Only those of the organization of this name. */
  organization?: string;
  offset?: number;
  limit?: number;
}

/** One page of the keys of every organization, by organization and age, and how many there are in all. */
export async function listApiKeys(
  { catalogue }: { catalogue: Catalogue },
  options: ApiKeyListOptions = {},
): Promise<{ items: ApiKeyView[]; total: number }> {
  const { organization, offset, limit } = options;
  // No organization can have such a name, and the database cannot look for one.
  if (organization?.includes("\u0000")) return { items: [], total: 0 };
  const where = organization === undefined ? {} : { organization: { name: organization } };
  const [rows, total] = await Promise.all([
    catalogue.apiKey.findMany({
      where,
      include: withOrganization,
      orderBy: [{ organization: { name: "asc" } }, { createdAt: "asc" }, { id: "asc" }],
      ...(offset === undefined ? {} : { skip: offset }),
      ...(limit === undefined ? {} : { take: limit }),
    }),
    catalogue.apiKey.count({ where }),
  ]);
  return { items: rows.map(toApiKeyView), total };
}
