import { Type } from "@sinclair/typebox";
import type { App } from "../../context.ts";

/** `GET /healthz`: the process is up. Says nothing of what it depends on. */
export function getHealthRoute(app: App): void {
  app.route({
    method: "GET",
    url: "/healthz",
    config: { auth: "none" },
    schema: {
      operationId: "getHealth",
      tags: ["server"],
      summary: "Whether the process is up",
      security: [],
      response: { 200: Type.Object({ status: Type.Literal("ok") }) },
    },
    handler: async () => ({ status: "ok" as const }),
  });
}
