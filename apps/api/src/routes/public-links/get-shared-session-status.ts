import { getShared } from "@tandem/engine/queries/get-shared";
import { getStatus } from "@tandem/engine/queries/sessions";
import type { ApiContext, App } from "../../context.ts";
import { publicErrorsOf } from "../../schemas/errors.ts";
import { SessionStatus, toSessionStatus } from "../../schemas/sessions.ts";
import { SharedParams } from "../../schemas/sharing.ts";
import { ref } from "../../schemas/typebox.ts";
import { addPublicHeaders } from "../../sharing/public-headers.ts";

/** `GET /shared/{token}/status`: a shared session's status. */
export function getSharedSessionStatusRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/shared/:token/status",
    config: { auth: "none" },
    onRequest: addPublicHeaders,
    schema: {
      operationId: "getSharedSessionStatus",
      tags: ["shared"],
      summary: "Get a shared session's status",
      security: [],
      params: SharedParams,
      response: { 200: ref(SessionStatus), ...publicErrorsOf(404) },
    },
    async handler(request) {
      return toSessionStatus(await getStatus(engine, await getShared(engine, request.params.token)));
    },
  });
}
