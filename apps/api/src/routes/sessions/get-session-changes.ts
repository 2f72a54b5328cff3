import { Type } from "@sinclair/typebox";
import { timeLeftMs } from "@tandem/engine/domain/session-tokens";
import type { ChangesRow } from "@tandem/engine/postgres/read-changes";
import { createChangesReader } from "@tandem/engine/queries/changes-reader";
import type { FastifyReply } from "fastify";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfReading, noContent } from "../../schemas/errors.ts";
import { cursor, MAX_INDEX, SessionParams } from "../../schemas/params.ts";
import { SessionChanges, toStateFields } from "../../schemas/sessions.ts";
import { nullable, ref } from "../../schemas/typebox.ts";
import { hasNews, waitForNews } from "../../waiting/wait-for-news.ts";

/** Longest wait, in seconds: below the 30 s after which proxies give up. */
const MAX_WAIT_S = 25;

const Query = Type.Object({
  from_index: cursor,
  limit: Type.Optional(
    nullable(Type.Integer({ minimum: 0, maximum: MAX_INDEX }), { description: "Most events to return." }),
  ),
  include_events: Type.Boolean({ default: true, description: "False gives the state without the events." }),
  wait_for_seconds: Type.Integer({
    minimum: 0,
    maximum: MAX_WAIT_S,
    default: 0,
    description: "How long to wait when there is nothing new.",
  }),
});

/** `GET /sessions/{id}/changes`: the long poll. Subscribe, read, wait, read again: nothing falls between. */
export function getSessionChangesRoute(app: App, { engine, waiters }: ApiContext): void {
  const reader = createChangesReader(engine);
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id/changes",
    config: { sessionToken: true },
    schema: {
      operationId: "getSessionChanges",
      tags: ["sessions"],
      summary: "Wait for changes of a session",
      description:
        "Answers at once when there are events from `from_index` on, or when the session has ended; else waits. " +
        '204 when nothing is new; its `ETag` is the cursor, `"N"`.',
      params: SessionParams,
      querystring: Query,
      response: {
        200: ref(SessionChanges),
        204: noContent("Nothing is new."),
        ...errorsOfReading(404),
      },
    },
    async handler(request, reply) {
      const {
        from_index: fromIndex,
        limit = null,
        include_events: withEvents,
        wait_for_seconds: waitS,
      } = request.query;
      const key = {
        organizationId: principalOf(request).organizationId,
        sessionId: request.params.id,
        fromIndex,
        limit: withEvents ? limit : 0,
      };
      const read = () => reader.read(key);
      if (waitS === 0) return sendChanges(reply, await read(), fromIndex);
      const news = await waitForNews({
        waiters,
        sessionId: key.sessionId,
        cursor: fromIndex,
        // A poll does not outlive its token.
        timeoutMs: Math.min(waitS * 1_000, timeLeftMs(principalOf(request))),
        read,
        response: reply.raw,
      });
      if (news === "gone") return reply.hijack();
      return news === "nothing new" ? sendNothingNew(reply, fromIndex) : sendChanges(reply, news, fromIndex);
    },
  });
}

function sendNothingNew(reply: FastifyReply, fromIndex: number) {
  return reply.code(204).header("etag", `"${fromIndex}"`).send();
}

function sendChanges(reply: FastifyReply, row: ChangesRow, fromIndex: number) {
  if (!hasNews(row, fromIndex)) return sendNothingNew(reply, fromIndex);
  return reply.type("application/json; charset=utf-8").send(toBody(row, fromIndex));
}

/** Bodies by the row that they were made of. */
const bodies = new WeakMap<ChangesRow, string | Buffer>();

/**
 * The body of a reply. Polls that were read together share their row, and asked from the same index: they share the
 * body's bytes too, however many and slow their connections are. One alone goes out as text, in one piece with its head.
 */
function toBody(row: ChangesRow, fromIndex: number): string | Buffer {
  const made = bodies.get(row);
  if (Buffer.isBuffer(made)) return made;
  const body = made === undefined ? toChangesJson(row, fromIndex) : Buffer.from(made);
  bodies.set(row, body);
  return body;
}

/** The reply as JSON text: events are passed on as they are stored. */
function toChangesJson(row: ChangesRow, fromIndex: number): string {
  return `{${toStateFields(row, fromIndex)},"new_events":[${row.events ?? ""}]}`;
}
