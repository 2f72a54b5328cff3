// Sessions as they are shown. `Session` and `SessionSummary` are closed: nothing of ours goes in there.
import { type Static, Type } from "@sinclair/typebox";
import { END_REASONS, SESSION_ERROR_CODES } from "@tandem/engine/domain/session-end";
import { SESSION_STATUSES } from "@tandem/engine/domain/session-state";
import { toWaitingOn, WAITS, type WaitingOn as WaitingOnValue } from "@tandem/engine/domain/waiting-on";
import type { ChangesRow } from "@tandem/engine/postgres/read-changes";
import type { SessionView, StatusRow } from "@tandem/engine/postgres/read-sessions";
import type { SessionSummaryRow } from "@tandem/engine/queries/list-sessions";
import { AnswerOutcome, Metrics, ModelUsage, SessionEvent } from "./events.ts";
import { UserMessageEvent } from "./messages.ts";
import { SessionRequest } from "./session-request.ts";
import { anyJson, nullable, openObject, ref, stringEnum, timestamp } from "./typebox.ts";

export const TrajectoryStatus = stringEnum(SESSION_STATUSES, { $id: "TrajectoryStatus" });
export const SessionErrorCode = stringEnum(SESSION_ERROR_CODES, { $id: "SessionErrorCode" });
export const EndReason = stringEnum(END_REASONS, {
  $id: "EndReason",
  description: "Why the session ended. More exact than `error_code`, and set for good ends too.",
});

export const WaitingOn = Type.Object(
  {
    what: stringEnum(WAITS, {
      description:
        "`slot`: the organization has no free one. `worker`: a step is due and no worker has taken it yet. `model`: a " +
        "worker asks the model. `model_retry`: the model failed and is asked again at the deadline. `tool_results`: " +
        "calls wait for the caller. `approval`: calls wait for a decision. `message`: the session has answered and is open. `resume`: it is paused.",
    }),
    since: timestamp(),
    deadline: nullable(timestamp(), { description: "When something happens by itself, if it does." }),
    heartbeat_at: nullable(timestamp(), { description: "When the worker was last heard of." }),
  },
  { $id: "WaitingOn" },
);

export const SessionStatus = Type.Object(
  {
    status: ref(TrajectoryStatus),
    error: nullable(Type.String(), { description: "Why it failed, in words." }),
    error_code: nullable(ref(SessionErrorCode)),
    outcome: nullable(ref(AnswerOutcome)),
    steps: Type.Integer({ description: "Model calls so far." }),
    usage_per_model: Type.Array(ref(ModelUsage)),
    subagent_session_ids: Type.Array(Type.String({ format: "uuid" })),
    reason: nullable(ref(EndReason)),
    waiting_on: nullable(ref(WaitingOn), {
      description: "What a live session waits for; null when it has ended.",
    }),
  },
  { $id: "SessionStatus" },
);

export const Session = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    request: ref(SessionRequest),
    status: ref(SessionStatus),
    agent_view_url: nullable(Type.String()),
    latest_answer: anyJson("Null until the first answer; text, or data when an answer format is set."),
    created_at: timestamp(),
    started_at: nullable(timestamp()),
    finished_at: nullable(timestamp()),
  },
  { $id: "Session", additionalProperties: false },
);

export const SessionSummary = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    agent: nullable(Type.String()),
    status: ref(TrajectoryStatus),
    agent_view_url: nullable(Type.String()),
    first_message: nullable(ref(UserMessageEvent)),
    created_at: timestamp(),
    started_at: nullable(timestamp()),
    finished_at: nullable(timestamp()),
    last_activity_at: nullable(timestamp()),
    anonymized_at: nullable(timestamp(), { description: "When an ephemeral session's content was removed." }),
  },
  { $id: "SessionSummary", additionalProperties: false },
);

/** What `changes` tells before its events, and beside them. */
const stateBefore = {
  status: ref(TrajectoryStatus),
  started_at: nullable(timestamp()),
  finished_at: nullable(timestamp()),
  error: nullable(Type.String()),
  error_code: nullable(ref(SessionErrorCode)),
};
const stateBeside = {
  answer: nullable(Type.Union([Type.String(), openObject("A structured answer.")]), {
    description: "The answer of the current run.",
  }),
  outcome: nullable(ref(AnswerOutcome)),
  metrics: ref(Metrics),
  reason: nullable(ref(EndReason)),
  next_index: Type.Integer({
    description: "The cursor for the next poll: `from_index` plus the events returned.",
  }),
  has_more: Type.Boolean({
    description:
      "True when events were asked for and the session has some past `next_index`: then the state is later than the " +
      "events returned. Read on before acting on it.",
  }),
};

export const SessionChanges = Type.Object(
  {
    ...stateBefore,
    new_events: Type.Array(ref(SessionEvent), { description: "The events from `from_index` on." }),
    ...stateBeside,
  },
  { $id: "SessionChanges" },
);

export const StreamState = Type.Object(
  { ...stateBefore, ...stateBeside },
  {
    $id: "StreamState",
    description: "The state of a session once all of its events were sent: `changes` without its events.",
  },
);

export const StreamDelta = Type.Object(
  {
    type: Type.Literal("delta"),
    step: Type.Integer({ description: "The number of the step that the model request is of, from 1." }),
    offset: Type.Integer({
      description:
        "How many UTF-16 units of the request's text come before. 0 begins anew: what was sent of a request that failed " +
        "is void.",
    }),
    text: Type.String({ description: "What the model says next." }),
  },
  {
    $id: "StreamDelta",
    description:
      "A piece of the text that the model says in a step. All of it comes before the step's events, which have it too. An " +
      "empty one of offset 0 takes back what was sent of a request that failed.",
  },
);

export const QuotaStatus = Type.Object(
  {
    scope: stringEnum(["user", "org"], { description: "Who the limit is for." }),
    limit: Type.Integer({ description: "Most active sessions; 2147483647 when there is no limit." }),
    active: Type.Integer({ description: "Sessions that are neither queued nor ended." }),
    available: Type.Integer({ description: "How many more can be active now." }),
    queued: Type.Integer({ description: "Sessions that wait for a slot." }),
  },
  { $id: "QuotaStatus" },
);

const SESSION_TOTAL =
  "How many there are in all. Exact without filters, on the last page, and up to 10,000. Of more that fit a filter it is " +
  "an estimate, above 10,000 and never less than what the page shows: reading on until `page * size >= total` misses none.";

export const SessionPage = page("Page_SessionSummary_", ref(SessionSummary), SESSION_TOTAL);
export const EventPage = page("Page_SessionEvent_", ref(SessionEvent));

/** A page of a list. */
export function page<T extends import("@sinclair/typebox").TSchema>(
  $id: string,
  item: T,
  totalDescription = "How many there are in all.",
) {
  return Type.Object(
    {
      items: Type.Array(item),
      total: Type.Integer({ description: totalDescription }),
      page: Type.Integer({ description: "The page's number, from 1." }),
    },
    { $id },
  );
}

/** A status row in the wire's shape. */
export function toSessionStatus(row: StatusRow): Static<typeof SessionStatus> {
  return {
    status: row.status,
    error: row.error,
    error_code: row.errorCode,
    outcome: row.outcome,
    steps: row.steps,
    usage_per_model: row.usage,
    subagent_session_ids: [],
    reason: row.reason,
    waiting_on: toWaitingOnReply(toWaitingOn(row)),
  };
}

function toWaitingOnReply(waiting: WaitingOnValue | null): Static<typeof WaitingOn> | null {
  if (!waiting) return null;
  const { what, since, deadline, heartbeatAt } = waiting;
  return { what, since: since.toISOString(), deadline: toTime(deadline), heartbeat_at: toTime(heartbeatAt) };
}

/** A session in the wire's shape. The nested status is the whole `SessionStatus`. */
export function toSession(view: SessionView): Static<typeof Session> {
  return {
    id: view.id,
    request: view.request,
    status: toSessionStatus(view),
    agent_view_url: null,
    latest_answer: view.latestAnswer,
    created_at: view.createdAt.toISOString(),
    started_at: toTime(view.startedAt),
    finished_at: toTime(view.finishedAt),
  };
}

/** A session of a list in the wire's shape. */
export function toSessionSummary(row: SessionSummaryRow): Static<typeof SessionSummary> {
  return {
    id: row.id,
    agent: row.agentName,
    status: row.status,
    agent_view_url: null,
    first_message: row.firstMessage,
    created_at: row.createdAt.toISOString(),
    started_at: toTime(row.startedAt),
    finished_at: toTime(row.finishedAt),
    last_activity_at: toTime(row.lastActivityAt),
    anonymized_at: toTime(row.purgedAt),
  };
}

/**
 * The state that a poll of `changes` tells, as the fields of a JSON object: answer and usage are passed on as they are
 * stored.
 */
export function toStateFields(row: ChangesRow, fromIndex: number): string {
  const nextIndex = fromIndex + row.eventCount;
  const head = JSON.stringify({
    status: row.status,
    started_at: toTime(row.startedAt),
    finished_at: toTime(row.finishedAt),
    error: row.error,
    error_code: row.errorCode,
    outcome: row.outcome,
    reason: row.reason,
    next_index: nextIndex,
    // A reply that was to hold no events does not say that there are more: asking again would not bring them.
    has_more: row.eventCount > 0 && row.nextIndex > nextIndex,
  });
  const metrics = `{"steps":${row.steps},"cost_per_model":${row.usage}}`;
  return `${head.slice(1, -1)},"answer":${row.answer ?? "null"},"metrics":${metrics}`;
}

/** A moment in the wire's shape. */
export function toTime(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}

export const sessionSchemas = [
  TrajectoryStatus,
  SessionErrorCode,
  EndReason,
  WaitingOn,
  SessionStatus,
  Session,
  SessionSummary,
  SessionChanges,
  StreamState,
  StreamDelta,
  QuotaStatus,
  SessionPage,
  EventPage,
];
