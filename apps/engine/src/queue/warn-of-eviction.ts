import { Redis } from "ioredis";
import type { Logger } from "pino";

/** How long to wait between attempts to reach Redis, in milliseconds. */
const RETRY_MS = 1_000;

/** A look that is under way, or over. */
export interface EvictionLook {
  /** Resolves when it is over, and its connection closed. Never rejects. */
  over: Promise<void>;
  /** Ends it, if it has not come about yet. */
  close(): void;
}

/**
 * Looks once, as soon as Redis can be reached, whether it may throw jobs away when its memory is full, and warns of it.
 * Nothing is lost then, since the sweep puts back what should run, but it runs late.
 */
export function warnOfEviction({ url, log }: { url: string; log: Logger }): EvictionLook {
  const client = new Redis(url, {
    connectionName: "tandem-eviction",
    maxRetriesPerRequest: 1,
    retryStrategy: () => RETRY_MS,
  });
  client.on("error", (error: Error) => log.debug({ err: error }, "the look at Redis' eviction policy"));
  client.once("ready", () => {
    client
      .info("memory")
      .then((info) => {
        const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? KEEPS_JOBS;
        if (policy !== KEEPS_JOBS) log.warn({ policy }, ADVICE);
      })
      .catch((error: unknown) => log.debug({ err: error }, "Redis does not tell its eviction policy"))
      .finally(() => client.disconnect());
  });
  return {
    over: new Promise((resolve) => client.once("end", resolve)),
    close: () => client.disconnect(),
  };
}

const KEEPS_JOBS = "noeviction";

const ADVICE =
  "Redis may evict queued steps when its memory is full, and they then run late: set its maxmemory-policy to noeviction";
