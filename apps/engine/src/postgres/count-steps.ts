// How far a history had come at an index.
import { parseJson } from "../domain/json.ts";
import type { Metrics } from "../domain/metrics.ts";
import type { Queryable } from "./pool.ts";

/**
 * The number of the last step before an index of a session's history at which a reply of the model stands; 0 when there
 * is none. Each reply is followed at once by the number of its step. Postgres looks into no JSON for it: it refuses all
 * of a document that has a NUL or half of a surrogate pair anywhere.
 */
export async function countStepsBefore(db: Queryable, sessionId: string, index: number): Promise<number> {
  const { rows } = await db.query<{ data: string }>({
    name: "count-steps-before",
    text: `SELECT data::text AS data FROM events
            WHERE session_id = $1 AND index < $2 AND type = 'MetricsUpdateEvent' ORDER BY index DESC LIMIT 1`,
    values: [sessionId, index],
  });
  const [row] = rows;
  if (!row) return 0;
  const { metrics } = parseJson(row.data) as unknown as { metrics: Metrics };
  return metrics.steps;
}
