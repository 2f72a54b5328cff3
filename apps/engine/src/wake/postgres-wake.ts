import type pg from "pg";
import type { Logger } from "pino";
import { notify, startListening } from "../postgres/notifications.ts";
import { connectClient } from "../postgres/pool.ts";
import { createWake, type Wake } from "./wake.ts";

/** How long to wait before a broken listening connection is opened anew, in milliseconds. */
const RECONNECT_MS = 500;

/** Wake-ups by `LISTEN` and `NOTIFY`: one connection of its own to listen, the pool to notify. */
export function createPostgresWake(options: { url: string; pool: pg.Pool; log: Logger }): Wake {
  return createWake((onMessage) => {
    let client: pg.Client | null = null;
    let isClosed = false;
    let retry: NodeJS.Timeout | undefined;

    const connect = async (): Promise<void> => {
      const opened = await connectClient(options.url, "tandem-wake");
      opened.on("error", (error) => lose(opened, error));
      opened.on("end", () => lose(opened));
      await startListening(opened, onMessage).catch(async (error: unknown) => {
        await opened.end().catch(() => undefined);
        throw error;
      });
      if (isClosed) return opened.end();
      client = opened;
    };
    const lose = (lost: pg.Client, error?: Error) => {
      if (isClosed || client !== lost) return;
      options.log.warn({ err: error }, "the wake-up connection broke; opening it again");
      client = null;
      listening = reconnect();
    };
    const reconnect = async (): Promise<void> => {
      while (!isClosed && client === null) {
        const problem = await connect().then(
          () => null,
          (error: unknown) => error,
        );
        if (problem === null) return;
        options.log.debug({ err: problem }, "the wake-up connection cannot be opened yet");
        await new Promise<void>((resolve) => {
          retry = setTimeout(resolve, RECONNECT_MS);
          retry.unref();
        });
      }
    };
    let listening = reconnect();

    return {
      send: (payload) => notify(options.pool, payload),
      async ready() {
        await listening;
      },
      async close() {
        isClosed = true;
        clearTimeout(retry);
        await client?.end();
      },
    };
  }, options.log);
}
