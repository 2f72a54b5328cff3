import { type Static, Type } from "@sinclair/typebox";
import type { SessionKey } from "@tandem/engine/domain/ids";
import type { Engine } from "@tandem/engine/engine";
import { getEventPage } from "@tandem/engine/queries/sessions";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { pageQuery, SessionParams, toOffset } from "../../schemas/params.ts";
import { EventPage } from "../../schemas/sessions.ts";
import { nullable, ref, stringEnum } from "../../schemas/typebox.ts";

/** The query of a page of events. */
export const EventsQuery = Type.Object({
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
      querystring: EventsQuery,
      response: { 200: ref(EventPage), ...errorsOf(404) },
    },
    async handler(request, reply) {
      const { organizationId } = principalOf(request);
      const json = await toEventPageJson(
        engine,
        { organizationId, sessionId: request.params.id },
        request.query,
      );
      // The events are JSON text already; the reply's type is said for the OpenAPI document.
      return reply.type("application/json; charset=utf-8").send(json as never);
    },
  });
}

/** A page of a session's events as JSON text. */
export async function toEventPageJson(
  engine: Engine,
  key: SessionKey,
  query: Static<typeof EventsQuery>,
): Promise<string> {
  const { events, total } = await getEventPage(engine, {
    ...key,
    type: query.type || null,
    newestFirst: query.sort?.[0] === "-timestamp",
    offset: toOffset(query),
    limit: query.size,
  });
  return `{"items":[${events ?? ""}],"total":${total},"page":${query.page}}`;
}
