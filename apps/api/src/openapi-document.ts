import type { Engine } from "@tandem/engine/engine";
import pino from "pino";
import { buildApp } from "./app.ts";

/** The OpenAPI document, without a database: routes touch the engine only when they handle a request. */
export async function createOpenApiDocument(): Promise<object> {
  const engine = { log: pino({ level: "silent" }) } as unknown as Engine;
  const waiters = {
    size: 0,
    isShutDown: false,
    wait: () => {
      throw new Error("Nobody waits for a document.");
    },
    shutdown: () => undefined,
  };
  const app = await buildApp({ engine, models: {}, waiters });
  const document = app.swagger();
  await app.close();
  return document;
}
