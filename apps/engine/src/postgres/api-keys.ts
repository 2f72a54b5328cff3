// Looking keys up, by the database's clock, and what is shown of them.
import type { Principal } from "../domain/api-keys.ts";
import type { Queryable } from "./pool.ts";

/**
 * Who a key that is good now belongs to, and remembers, to the minute, that it was used. Null when it is unknown or
 * has ended.
 */
export async function useApiKey(db: Queryable, keyHash: Buffer): Promise<Principal | null> {
  const { rows } = await db.query<Principal>({
    name: "use-api-key",
    text: `WITH known AS (
             SELECT id, organization_id, user_name, is_admin FROM api_keys
              WHERE key_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
           ), used AS (
             UPDATE api_keys SET last_used_at = now() FROM known
              WHERE api_keys.id = known.id
                AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
           )
           SELECT id AS "keyId", organization_id AS "organizationId", user_name AS "userName", is_admin AS "isAdmin"
             FROM known`,
    values: [keyHash],
  });
  return rows[0] ?? null;
}

/** When a key that is made now and lasts so many days ends. */
export async function readExpiry(db: Queryable, days: number): Promise<Date> {
  const { rows } = await db.query<{ at: Date }>("SELECT now() + $1::int * interval '1 day' AS at", [days]);
  const [row] = rows;
  if (!row) throw new Error("SELECT now() returned no row");
  return row.at;
}

/** A key as lists show it. */
export interface ApiKeyView {
  id: string;
  organization: string;
  name: string;
  userName: string;
  hint: string;
  isAdmin: boolean;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

/** What a row of a key has to come with, for {@link toApiKeyView}. */
export const withOrganization = { organization: { select: { name: true } } } as const;

/** A key without what nobody may see: its hash. */
export function toApiKeyView(
  row: Omit<ApiKeyView, "organization"> & {
    organization: { name: string };
    keyHash: Uint8Array;
    organizationId: string;
  },
): ApiKeyView {
  const { organization, keyHash: _secret, organizationId: _id, ...rest } = row;
  return { ...rest, organization: organization.name };
}

/** Ends a key for good, now; false when there is none with this id. */
export async function endApiKey(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1",
    [id],
  );
  return rowCount === 1;
}
