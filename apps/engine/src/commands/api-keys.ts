// The keys of organizations: make, list, revoke. A key itself is told once, to whoever makes it.
import type pg from "pg";
import { SYSTEM_ORGANIZATION } from "../domain/agents.ts";
import { hashApiKey, newApiKey, toKeyHint } from "../domain/api-keys.ts";
import { invalidRequest } from "../domain/errors.ts";
import { readExpiry } from "../postgres/api-keys.ts";
import type { Catalogue } from "../postgres/catalogue.ts";
import { DEFAULT_USER, ensureOrganization } from "./bootstrap.ts";

/** What keys are managed with. */
export interface KeyContext {
  pool: pg.Pool;
  catalogue: Catalogue;
}

/** A key as a list shows it. */
export interface ApiKeyView {
  id: string;
  organization: string;
  name: string;
  userName: string;
  hint: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

/**
 * Makes a key; its organization too, when it is new.
 *
 * @returns the key, which cannot be read again
 * @throws {TandemError} `invalid_request` for the server's own organization
 */
export async function createApiKey(
  { pool, catalogue }: KeyContext,
  input: {
    organization: string;
    name?: string | undefined;
    user?: string | undefined;
    expiresDays?: number | undefined;
  },
): Promise<{ id: string; key: string }> {
  if (input.organization === SYSTEM_ORGANIZATION) {
    throw invalidRequest(
      ["org"],
      `the organization ${SYSTEM_ORGANIZATION} is the server's own; choose another`,
    );
  }
  const key = newApiKey();
  const { id } = await catalogue.apiKey.create({
    data: {
      organizationId: await ensureOrganization(catalogue, input.organization),
      name: input.name ?? "key",
      userName: input.user ?? DEFAULT_USER,
      keyHash: hashApiKey(key),
      hint: toKeyHint(key),
      expiresAt: input.expiresDays === undefined ? null : await readExpiry(pool, input.expiresDays),
    },
  });
  return { id, key };
}

/** Every key, by organization and age. */
export async function listApiKeys({ catalogue }: KeyContext): Promise<ApiKeyView[]> {
  const rows = await catalogue.apiKey.findMany({
    include: { organization: { select: { name: true } } },
    orderBy: [{ organization: { name: "asc" } }, { createdAt: "asc" }],
  });
  return rows.map(({ organization, keyHash: _secret, organizationId: _id, ...row }) => ({
    ...row,
    organization: organization.name,
  }));
}

/** Revokes a key for good; false when there is none with this id. A process may know it for ten seconds more. */
export async function revokeApiKey({ catalogue }: KeyContext, id: string): Promise<boolean> {
  await catalogue.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
  return (await catalogue.apiKey.count({ where: { id } })) === 1;
}
