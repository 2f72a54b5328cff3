import { Type } from "@sinclair/typebox";
import { getEventPage } from "@tandem/engine/queries/sessions";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { pageQuery, SessionParams, toOffset } from "../../schemas/params.ts";
import { EventPage } from "../../schemas/sessions.ts";
import { nullable, ref, stringEnum } from "../../schemas/typebox.ts";

const Query = Type.Object({
  ...pageQuery({ default: 50, max: 200 }),
  sort: Type.Optional(
    Type.Array(stringEnum(["timestamp", "-timestamp"] as const), { description: "Oldest first by default." }),
  ),
  type: Type.Optional(nullable(Type.String(), { description: "Only events of this type." })),
});

/** `GET /sessions/{id}/events`: the history, in pages. */
export function listSessionEventsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id/events",
    schema: {
      operationId: "listSessionEvents",
      tags: ["sessions"],
      summary: "List a session's events",
      params: SessionParams,
      querystring: Query,
      response: { 200: ref(EventPage), ...errorsOf(404) },
    },
    async handler(request, reply) {
      const { query } = request;
      const { events, total } = await getEventPage(engine, {
        organizationId: principalOf(request).organizationId,
        sessionId: request.params.id,
        type: query.type || null,
        newestFirst: query.sort?.[0] === "-timestamp",
        offset: toOffset(query),
        limit: query.size,
      });
      const json = `{"items":[${events ?? ""}],"total":${total},"page":${query.page}}`;
      // The events are JSON text already; the reply's type is said for the OpenAPI document.
      return reply.type("application/json; charset=utf-8").send(json as never);
    },
  });
}
