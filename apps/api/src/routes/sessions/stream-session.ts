import { Type } from "@sinclair/typebox";
import { isTerminal } from "@tandem/engine/domain/session-state";
import { timeLeftMs } from "@tandem/engine/domain/session-tokens";
import type { ChangesRow } from "@tandem/engine/postgres/read-changes";
import { createChangesReader } from "@tandem/engine/queries/changes-reader";
import { countStepsBefore } from "@tandem/engine/queries/count-steps-before";
import type { FastifyRequest } from "fastify";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfReading, noContent } from "../../schemas/errors.ts";
import { SessionEvent } from "../../schemas/events.ts";
import { cursor, MAX_INDEX, SessionParams } from "../../schemas/params.ts";
import { StreamDelta, StreamState } from "../../schemas/sessions.ts";
import { ref } from "../../schemas/typebox.ts";
import { followSession } from "../../streaming/follow-session.ts";
import { createOpenStreams } from "../../streaming/open-streams.ts";

/** Events that are read at once, and about how many bytes of them: all that is held for one client. */
const PAGE = { limit: 200, maxBytes: 256_000 };

const Query = Type.Object({
  from_index: cursor,
});

const Headers = Type.Object({
  "Last-Event-ID": Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_INDEX - 1,
      description:
        "The index of the last event that was seen; the stream goes on behind it, whatever `from_index` says.",
    }),
  ),
});

/** `GET /sessions/{id}/stream`: what `changes` tells, without asking again, and text while it is made. */
export function streamSessionRoute(app: App, context: ApiContext): void {
  const { engine, waiters } = context;
  const reader = createChangesReader(engine);
  const streams = createOpenStreams(app, context);
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id/stream",
    config: { sessionToken: true },
    schema: {
      operationId: "streamSession",
      tags: ["sessions"],
      summary: "Follow a session",
      description:
        "Server-sent events. Events of the session have no name, and their index as the id; `state` follows when all of " +
        "them were sent. `delta` is text of a step, and comes before the step's events: while the model makes it, where the " +
        "session has `stream` or the step begins while somebody reads, else when the step has ended. Its `offset` is 0 where " +
        "the text begins anew. A comment comes every 15 s. The stream ends when the session has. 204 when it has ended and " +
        "there is nothing from `from_index` on.",
      params: SessionParams,
      querystring: Query,
      headers: Headers,
      response: {
        200: {
          description: "The stream.",
          content: {
            "text/event-stream": {
              schema: Type.Union([ref(SessionEvent), ref(StreamState), ref(StreamDelta)]),
            },
          },
        },
        204: noContent("The session has ended, and all of it was seen."),
        ...errorsOfReading(404),
      },
    },
    async handler(request, reply) {
      const { organizationId } = principalOf(request);
      const sessionId = request.params.id;
      const read = (fromIndex: number) => reader.read({ organizationId, sessionId, fromIndex, ...PAGE });
      const fromIndex = toCursor(request);
      const first = await read(fromIndex);
      if (isTerminal(first.status) && first.eventCount === 0) return reply.code(204).send();
      reply.type("text/event-stream; charset=utf-8");
      reply.headers({ "cache-control": "no-store", "x-accel-buffering": "no" });
      if (request.method === "HEAD") return reply.send("");
      const client = { response: reply.raw, timeLeftMs: () => timeLeftMs(principalOf(request)) };
      const countSteps = (index: number) => countStepsBefore(engine, sessionId, index);
      const from = { sessionId, fromIndex, read: startWith(first, read), countSteps };
      const body = streams.open(request, (stream, texts) =>
        followSession({ ...client, ...from, stream, texts, waiters }),
      );
      return reply.send(body);
    },
  });
}

type Read = (fromIndex: number) => Promise<ChangesRow>;

/** The same reads, of which the first was made already. What it gave is given once, and not kept. */
function startWith(first: ChangesRow, read: Read): Read {
  let given: ChangesRow | null = first;
  return async (fromIndex) => {
    const row = given;
    given = null;
    return row ?? read(fromIndex);
  };
}

function toCursor({ query, headers }: { query: unknown; headers: FastifyRequest["headers"] }): number {
  const { "last-event-id": last } = headers;
  return last === undefined ? (query as { from_index: number }).from_index : Number(last) + 1;
}
