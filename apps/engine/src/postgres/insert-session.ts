import type { AgentDefinition } from "../domain/agents.ts";
import type { NewEvent } from "../domain/events.ts";
import { stringifyJson } from "../domain/json.ts";
import { toLastingRequest } from "../domain/lasting-request.ts";
import type { UserMessage } from "../domain/messages.ts";
import type { SessionRequest } from "../domain/session-request.ts";
import { toText } from "../domain/text.ts";
import type { ToolDefinition } from "../domain/tools.ts";
import type { Queryable } from "./pool.ts";
import { prepared } from "./prepared.ts";
import { type SessionView, VIEW_COLUMNS } from "./read-sessions.ts";

/** A session as it is first written. */
export interface NewSession {
  id: string;
  organizationId: string;
  userName: string;
  /** What the caller asked for, normalised. */
  request: SessionRequest;
  /** What runs: the agent after overrides, and its tools. */
  agent: AgentDefinition;
  tools: ToolDefinition[];
  messages: UserMessage[];
  events: NewEvent[];
}

/** A new session as the database takes it: its JSON is written, which may take a while and must hold no lock. */
export interface SessionInsert {
  id: string;
  organizationId: string;
  request: SessionRequest;
  values: unknown[];
}

/** The longest time limit that is told from none, in milliseconds: ten years, which an interval can hold. */
const MAX_LIMIT_MS = 3e11;

/** Writes the JSON of a new session. */
export function toSessionInsert(session: NewSession): SessionInsert {
  const first = session.messages[0] ?? null;
  const { id, organizationId } = session;
  return {
    id,
    organizationId,
    request: session.request,
    values: [
      session.id,
      session.organizationId,
      session.userName,
      session.agent.name,
      session.request.group_id,
      session.request.parent_session_id,
      stringifyJson(session.request),
      stringifyJson(session.agent),
      stringifyJson(session.tools),
      session.request.max_steps,
      first === null ? null : stringifyJson(first),
      session.events.map((event) => event.type),
      session.events.map((event) => stringifyJson(event.data)),
      session.messages.map(stringifyJson),
      toText(first?.message ?? ""),
      session.request.queue,
      toLimitMs(session.request.max_time_s),
      toLimitMs(session.request.idle_timeout_s),
      session.request.repeat_limit,
      session.request.error_limit,
      session.request.token_budget,
      session.request.delete_after_min,
      session.agent.ephemeral ? stringifyJson(toLastingRequest(session.request, session.agent.name)) : null,
    ],
  };
}

/**
 * Inserts a session, its first events and its waiting messages in one statement. As `pending` its first step is due at
 * once; as `queued` it waits for a slot.
 *
 * @returns the session as it is shown
 */
export async function insertSession(
  db: Queryable,
  session: SessionInsert,
  status: "queued" | "pending",
): Promise<SessionView> {
  const { rows } = await db.query<Omit<SessionView, "request" | "latestAnswer">>(
    prepared(
      `WITH appended AS (
       INSERT INTO events (session_id, index, type, data)
       SELECT $1, event.position - 1, event.type, event.data::json
         FROM unnest($12::text[], $13::text[]) WITH ORDINALITY AS event (type, data, position)
     ), waiting AS (
       INSERT INTO waiting_messages (session_id, message)
       SELECT $1, sent.message::json FROM unnest($14::text[]) WITH ORDINALITY AS sent (message, position)
        ORDER BY sent.position
     )
     INSERT INTO sessions (id, organization_id, user_name, status, agent_name, group_id, parent_session_id, request,
                           agent, tools, max_steps, first_message, first_text, next_index, due_at, queued_at, queues,
                           max_time_ms, time_left_ms, idle_timeout_ms, repeat_limit, error_limit, token_budget,
                           delete_after_min, lasting_request)
     VALUES ($1, $2, $3, $24, $4, $5, $6, $7, $8, $9, $10, $11, $15, cardinality($12::text[]),
             CASE WHEN $24 = 'pending' THEN clock_timestamp() END,
             CASE WHEN $24 = 'queued' THEN clock_timestamp() END, $16, $17, $17, $18, $19, $20, $21, $22, $23)
     RETURNING ${VIEW_COLUMNS}`,
      [...session.values, status],
    ),
  );
  const [row] = rows;
  if (!row) throw new Error("INSERT returned no row");
  return { ...row, request: session.request, latestAnswer: null };
}

function toLimitMs(seconds: number | null): number | null {
  return seconds === null ? null : Math.min(seconds * 1_000, MAX_LIMIT_MS);
}
