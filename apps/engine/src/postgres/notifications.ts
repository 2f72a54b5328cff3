import type pg from "pg";
import { STATEMENT_TIMEOUT_MS } from "./pool.ts";

/** The channel of wake-ups. Every process listens on it. */
const CHANNEL = "tandem_wake";

/** `pg` takes a time limit of one statement too, which its type does not say. */
const query = (config: pg.QueryConfig) => ({ ...config, query_timeout: STATEMENT_TIMEOUT_MS });

/** Sends one notification; `payload` must stay below 8,000 bytes. */
export async function notify(client: pg.Client, payload: string): Promise<void> {
  await client.query(
    query({ name: "notify-wake", text: "SELECT pg_notify($1, $2)", values: [CHANNEL, payload] }),
  );
}

/**
 * Listens on a connection that is used for wake-ups alone. What it sends may be lost with the database, so that nothing
 * waits for a disk: what a wake-up tells of was committed before.
 */
export async function startListening(client: pg.Client, onPayload: (payload: string) => void): Promise<void> {
  client.on("notification", (message) => {
    if (message.channel === CHANNEL && message.payload) onPayload(message.payload);
  });
  await client.query(query({ text: `SET synchronous_commit = off; LISTEN ${CHANNEL}` }));
}
