import type pg from "pg";
import type { Logger } from "pino";
import { notify, startListening } from "../postgres/notifications.ts";
import { connectClient } from "../postgres/pool.ts";
import { createWake, type Wake } from "./wake.ts";

/** How long to wait before a broken listening connection is opened anew, in milliseconds. */
const RECONNECT_MS = 500;

/** Wake-ups by `LISTEN` and `NOTIFY`, on one connection of their own. */
export function createPostgresWake(options: { url: string; log: Logger }): Wake {
  return createWake((onMessage, onReopen) => {
    let client: pg.Client | null = null;
    let isClosed = false;
    let isFirst = true;
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
      if (!isFirst) onReopen();
      isFirst = false;
    };
    const lose = (lost: pg.Client, error?: Error) => {
      if (isClosed || client !== lost) return;
      options.log.warn({ err: error }, "the wake-up connection broke; opening it again");
      client = null;
      // One that does not answer would hold what is sent for ever.
      lost.end().catch(() => undefined);
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
      // While the connection is opened anew, what is to be sent waits: nobody else can tell of it.
      async send(payload) {
        await listening;
        const used = client;
        if (!used) throw new Error("the wake-up connection is closed");
        await notify(used, payload).catch((error: Error) => {
          lose(used, error);
          throw error;
        });
      },
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
