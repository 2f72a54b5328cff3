import { getShared } from "@tandem/engine/queries/get-shared";
import type { ApiContext, App } from "../../context.ts";
import { publicErrorsOf } from "../../schemas/errors.ts";
import { EventPage } from "../../schemas/sessions.ts";
import { SharedParams } from "../../schemas/sharing.ts";
import { ref } from "../../schemas/typebox.ts";
import { addPublicHeaders } from "../../sharing/public-headers.ts";
import { EventsQuery, toEventPageJson } from "../sessions/list-session-events.ts";

/** `GET /shared/{token}/events`: a shared session's history, in pages. */
export function listSharedSessionEventsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/shared/:token/events",
    config: { auth: "none" },
    onRequest: addPublicHeaders,
    schema: {
      operationId: "listSharedSessionEvents",
      tags: ["shared"],
      summary: "List a shared session's events",
      security: [],
      params: SharedParams,
      querystring: EventsQuery,
      response: { 200: ref(EventPage), ...publicErrorsOf(404, 422) },
    },
    async handler(request, reply) {
      const key = await getShared(engine, request.params.token);
      const json = await toEventPageJson(engine, key, request.query);
      return reply.type("application/json; charset=utf-8").send(json as never);
    },
  });
}
