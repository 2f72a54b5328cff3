import type pg from "pg";
import type { AgentDefinition } from "../domain/agents.ts";
import type { NewEvent } from "../domain/events.ts";
import type { UserMessage } from "../domain/messages.ts";
import type { SessionRequest } from "../domain/session-request.ts";
import { toText } from "../domain/text.ts";
import type { ToolDefinition } from "../domain/tools.ts";
import { toJsonText } from "./update-session.ts";

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

/** Writes a session, its first events and its waiting messages in one statement; its first step is due at once. */
export async function insertSession(db: Pick<pg.ClientBase, "query">, session: NewSession): Promise<void> {
  const first = session.messages[0] ?? null;
  await db.query(
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
                           agent, tools, max_steps, first_message, first_text, next_index, due_at,
                           delete_after_min)
     VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $15, cardinality($12::text[]), clock_timestamp(),
             $16)`,
    [
      session.id,
      session.organizationId,
      session.userName,
      session.agent.name,
      session.request.group_id === null ? null : toText(session.request.group_id),
      session.request.parent_session_id === null ? null : toText(session.request.parent_session_id),
      toJsonText(session.request),
      toJsonText(session.agent),
      toJsonText(session.tools),
      session.request.max_steps,
      first === null ? null : toJsonText(first),
      session.events.map((event) => event.type),
      session.events.map((event) => toJsonText(event.data)),
      session.messages.map(toJsonText),
      toText(first?.message ?? ""),
      session.request.delete_after_min,
    ],
  );
}
