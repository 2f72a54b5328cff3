import { readQuota } from "@tandem/engine/queries/read-quota";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { QuotaStatus } from "../../schemas/sessions.ts";
import { ref } from "../../schemas/typebox.ts";

/** `GET /sessions/quota`: how many sessions the organization may have active at once, and has. */
export function getSessionQuotaRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions/quota",
    schema: {
      operationId: "getSessionQuota",
      tags: ["sessions"],
      summary: "Get the quota of active sessions",
      response: { 200: ref(QuotaStatus), ...errorsOf() },
    },
    async handler(request) {
      return { scope: "org" as const, ...(await readQuota(engine, principalOf(request).organizationId)) };
    },
  });
}
