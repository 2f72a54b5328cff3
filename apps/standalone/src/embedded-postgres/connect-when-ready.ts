import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Keeper } from "./fork-keeper.ts";

/** Recovery after a crash replays the log since the last checkpoint; this is far beyond what that takes. */
const readyTimeoutMs = 120_000;
const pollMs = 10;
/** How long a Postgres that could not bind its port takes to exit. */
const exitMs = 1_000;

/** SQLSTATE `cannot_connect_now`: starting up, recovering or shutting down. */
const cannotConnectNow = "57P03";

/**
 * Waits until Postgres takes connections at `url`, and returns one.
 *
 * @returns null when Postgres has exited instead.
 */
export async function connectWhenReady(url: string, keeper: Keeper): Promise<pg.Client | null> {
  const deadline = Date.now() + readyTimeoutMs;
  while (!keeper.hasExited()) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    // An error on an idle connection is an event, and fatal without a listener.
    client.on("error", () => {});
    try {
      await client.connect();
      return client;
    } catch (cause) {
      if (cause instanceof pg.DatabaseError && cause.code !== cannotConnectNow) {
        // Another server may have taken the port and answered instead of our Postgres, which then exits.
        await Promise.race([keeper.exited, delay(exitMs)]);
        if (keeper.hasExited()) return null;
        throw new Error(`Postgres refused our connection: ${cause.message}`, { cause });
      }
      if (Date.now() > deadline) {
        throw new Error(`Postgres took no connection within ${readyTimeoutMs / 1000} s`, { cause });
      }
      await delay(pollMs);
    }
  }
  return null;
}
