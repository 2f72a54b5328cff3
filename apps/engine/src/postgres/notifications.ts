import type pg from "pg";
import { type Queryable, STATEMENT_TIMEOUT_MS } from "./pool.ts";

/** The channel of wake-ups. Every process listens on it. */
const CHANNEL = "tandem_wake";

/** Sends one notification; `payload` must stay below 8,000 bytes. */
export async function notify(db: Queryable, payload: string): Promise<void> {
  await db.query({ name: "notify-wake", text: "SELECT pg_notify($1, $2)", values: [CHANNEL, payload] });
}

/** Listens on a connection that is used for nothing else. */
export async function startListening(client: pg.Client, onPayload: (payload: string) => void): Promise<void> {
  client.on("notification", (message) => {
    if (message.channel === CHANNEL && message.payload) onPayload(message.payload);
  });
  // Whoever listens comes again when this fails; `pg` takes the time limit here too, which its type does not say.
  const listen = { text: `LISTEN ${CHANNEL}`, query_timeout: STATEMENT_TIMEOUT_MS };
  await client.query(listen as pg.QueryConfig);
}
