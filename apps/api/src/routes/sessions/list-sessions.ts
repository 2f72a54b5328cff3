import { Type } from "@sinclair/typebox";
import { invalidRequest } from "@tandem/engine/domain/errors";
import { SESSION_STATUSES } from "@tandem/engine/domain/session-state";
import { listSessions, type SessionFilter } from "@tandem/engine/queries/list-sessions";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { pageQuery, toOffset } from "../../schemas/params.ts";
import { SessionPage, toSessionSummary } from "../../schemas/sessions.ts";
import { ref, stringEnum, timestamp } from "../../schemas/typebox.ts";

const OWNERS = ["me", "me-in-organization", "organization", "me-or-organization"] as const;
const SORTS = ["created_at", "-created_at"] as const;

const Query = Type.Object({
  owner: stringEnum(OWNERS, {
    default: "me-in-organization",
    description: "Whose sessions: those of the key's user, or of the whole organization.",
  }),
  status: Type.Optional(Type.Array(stringEnum(SESSION_STATUSES), { description: "Any of these states." })),
  agent: Type.Optional(Type.Array(Type.String(), { description: "Any of these agents, by name." })),
  group_id: Type.Optional(Type.String()),
  parent_session_id: Type.Optional(Type.String()),
  schedule_id: Type.Optional(Type.String({ format: "uuid", description: "Sessions of one schedule." })),
  search: Type.Optional(
    Type.String({
      description:
        "Text in the first message or the answer, ignoring case. Looks at the newest 100,000 sessions that the other " +
        "filters leave; `created_before` looks further back.",
    }),
  ),
  created_before: Type.Optional(timestamp()),
  created_after: Type.Optional(timestamp()),
  finished_before: Type.Optional(timestamp()),
  finished_after: Type.Optional(timestamp()),
  ...pageQuery({ default: 10, max: 100 }),
  sort: Type.Array(stringEnum(SORTS), { default: ["-created_at"] }),
});

/** `GET /sessions`: one page of sessions, newest first unless asked otherwise. */
export function listSessionsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions",
    schema: {
      operationId: "listSessions",
      tags: ["sessions"],
      summary: "List sessions",
      querystring: Query,
      response: { 200: ref(SessionPage), ...errorsOf() },
    },
    async handler(request) {
      const { query } = request;
      // Sessions of this server come from no schedule.
      if (query.schedule_id !== undefined) return { items: [], total: 0, page: query.page };
      const { organizationId, userName } = principalOf(request);
      const isMine = query.owner === "me" || query.owner === "me-in-organization";
      const filter: SessionFilter = {
        organizationId,
        ...(isMine ? { userName } : {}),
        ...toFilter(query),
      };
      const oldestFirst = query.sort[0] === "created_at";
      const { rows, total } = await listSessions(engine, {
        filter,
        oldestFirst,
        offset: toOffset(query),
        limit: query.size,
      });
      return { items: rows.map(toSessionSummary), total, page: query.page };
    },
  });
}

function toFilter(query: typeof Query.static): Partial<SessionFilter> {
  return withoutUndefined({
    statuses: query.status?.length ? query.status : undefined,
    agentNames: query.agent?.length ? query.agent : undefined,
    groupId: query.group_id,
    parentSessionId: query.parent_session_id,
    search: query.search || undefined,
    createdBefore: toMoment(query, "created_before"),
    createdAfter: toMoment(query, "created_after"),
    finishedBefore: toMoment(query, "finished_before"),
    finishedAfter: toMoment(query, "finished_after"),
  });
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as never;
}

/** The earliest moment that a list can be asked for. RFC 3339 has a year 0, Postgres has none. */
const EARLIEST = "0001-01-01T00:00:00.000Z";

/** A moment as the database takes it. What has the form of a time may still be none, as a 25th hour. */
function toMoment(query: typeof Query.static, name: keyof typeof Query.static): string | undefined {
  const text = query[name];
  if (typeof text !== "string") return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw invalidRequest(["query", name], `${name} must be a date-time like 2026-11-29T20:00:00Z`, "format");
  }
  return time.getUTCFullYear() < 1 ? EARLIEST : time.toISOString();
}
