// Looking keys up, by the database's clock.
import type { Principal } from "../domain/api-keys.ts";
import type { Queryable } from "./pool.ts";

/** Who a key that is good now belongs to, and remembers, to the minute, that it was used. Null when it is unknown or has ended. */
export async function useApiKey(db: Queryable, keyHash: Buffer): Promise<Principal | null> {
  const { rows } = await db.query<Principal>({
    name: "use-api-key",
    text: `WITH known AS (
             SELECT id, organization_id, user_name FROM api_keys
              WHERE key_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
           ), used AS (
             UPDATE api_keys SET last_used_at = now() FROM known
              WHERE api_keys.id = known.id
                AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
           )
           SELECT organization_id AS "organizationId", user_name AS "userName" FROM known`,
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
