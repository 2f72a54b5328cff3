import { Redis } from "ioredis";
import type { Logger } from "pino";
import { createWake, type Wake } from "./wake.ts";

/**
 * The channel of wake-ups in Redis. Channels are shared by all logical databases, and a worker of another one must not be
 * taken for one of ours; so each has its own.
 */
const toChannel = (database = 0) => (database === 0 ? "tandem:wake" : `tandem:wake:${database}`);

/** Wake-ups by Redis pub/sub: one connection to subscribe, one to publish. */
export function createRedisWake(options: { url: string; log: Logger }): Wake {
  return createWake((onMessage, onReopen) => {
    const connection = { maxRetriesPerRequest: 1, enableOfflineQueue: false, retryStrategy: () => RETRY_MS };
    const publisher = new Redis(options.url, { ...connection, connectionName: "tandem-wake" });
    const subscriber = new Redis(options.url, { ...connection, connectionName: "tandem-wake-subscriber" });
    const channel = toChannel(publisher.options.db);
    for (const client of [publisher, subscriber]) {
      client.on("error", (error: Error) =>
        options.log.debug({ err: error }, "the wake-up connection to Redis"),
      );
    }
    subscriber.on("message", (_channel, payload) => onMessage(payload));
    let isSubscribed = false;
    let isFirst = true;
    subscriber.on("ready", () => {
      subscriber.subscribe(channel).then(
        () => {
          isSubscribed = true;
          if (!isFirst) onReopen();
          isFirst = false;
        },
        (error: unknown) => {
          options.log.warn({ err: error }, "wake-ups could not be subscribed to; trying again");
          subscriber.disconnect(true);
        },
      );
    });
    subscriber.on("close", () => {
      isSubscribed = false;
    });
    return {
      async send(payload) {
        await publisher.publish(channel, payload);
      },
      async ready() {
        if (publisher.status !== "ready" || !isSubscribed) throw new Error("Redis is not connected");
        await publisher.ping();
      },
      async close() {
        publisher.disconnect();
        subscriber.disconnect();
      },
    };
  }, options.log);
}

/** How long to wait between attempts to reach Redis, in milliseconds. */
const RETRY_MS = 250;
