// What holds of every session at every moment, looked at in the database. Each check says what is wrong in words.
import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import type { StoredEvent } from "@tandem/engine/domain/events";
import { toWaitingOn } from "@tandem/engine/domain/waiting-on";
import { readTranscriptEvents } from "@tandem/engine/postgres/read-events";
import { readStatus } from "@tandem/engine/postgres/read-sessions";
import { buildPrompt } from "@tandem/worker/agent/build-prompt";
import type pg from "pg";
import { findCallFaults, readCalls } from "./call-invariants.ts";

/** A session's row as the checks look at it. */
export interface SessionFacts {
  id: string;
  organizationId: string;
  status: string;
  pausedFrom: string | null;
  nextIndex: number;
  isDue: boolean;
  isLeased: boolean;
  hasLease: boolean;
  isFinished: boolean;
  hasReason: boolean;
  isTimed: boolean;
  hasTimeLimit: boolean;
  isIdling: boolean;
  isQueued: boolean;
  pauseRequested: boolean;
  /** Whether the row knows the earliest deadline of its open calls. */
  isDeadlineKept: boolean;
}

const FACTS = `
  id, organization_id AS "organizationId", status, paused_from AS "pausedFrom", next_index AS "nextIndex",
  due_at IS NOT NULL AS "isDue", coalesce(lease_until > clock_timestamp(), false) AS "isLeased",
  lease_until IS NOT NULL AS "hasLease", finished_at IS NOT NULL AS "isFinished", reason IS NOT NULL AS "hasReason",
  time_limit_at IS NOT NULL AS "isTimed", max_time_ms IS NOT NULL AS "hasTimeLimit",
  idle_until IS NOT NULL AS "isIdling", queued_at IS NOT NULL AS "isQueued", pause_requested AS "pauseRequested",
  call_deadline_at IS NOT DISTINCT FROM (SELECT min(deadline_at) FROM tool_calls WHERE session_id = sessions.id
    AND state IN ('pending', 'awaiting_approval')) AS "isDeadlineKept"`;

const AWAITING = ["awaiting_tool_results", "awaiting_approval"];
const ENDS = ["completed", "failed", "timed_out", "interrupted"];

/** Everything that is wrong with one session at this moment; empty when all is well. */
export async function findSessionFaults(pool: pg.Pool, sessionId: string): Promise<string[]> {
  const db = await pool.connect();
  try {
    await db.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return await findFaultsIn(db, sessionId);
  } finally {
    await db.query("COMMIT").finally(() => db.release());
  }
}

async function findFaultsIn(db: pg.ClientBase, sessionId: string): Promise<string[]> {
  const { rows } = await db.query<SessionFacts>(`SELECT ${FACTS} FROM sessions WHERE id = $1`, [sessionId]);
  const [row] = rows;
  if (!row) return [`there is no session ${sessionId}`];
  const events = (
    await db.query<StoredEvent>(
      "SELECT index, type, data, internal FROM events WHERE session_id = $1 ORDER BY index",
      [sessionId],
    )
  ).rows;
  const calls = await readCalls(db, sessionId);
  const transcript = (await readTranscriptEvents(db, sessionId)) ?? [];
  const prompt = buildPrompt({
    agent: { name: "x", environments: [] } as never,
    events: transcript,
    lastStep: null,
  });
  return [
    ...findRowFaults(row),
    ...findEventFaults(row, events),
    ...findCallFaults({
      active: row.pausedFrom ?? row.status,
      isDeadlineKept: row.isDeadlineKept,
      events,
      calls,
    }),
    ...findPromptFaults(prompt),
    ...(await findWaitFaults(db, row)),
  ];
}

const claim = (isTrue: boolean, what: string): string[] => (isTrue ? [] : [what]);

function findRowFaults(row: SessionFacts): string[] {
  const { status } = row;
  const isEnd = ENDS.includes(status);
  const isTimed = status === "running" || AWAITING.includes(status);
  return [
    ...claim(
      row.isDue === (status === "pending" || status === "running"),
      `${status}, but due: ${row.isDue}`,
    ),
    ...claim(!row.hasLease || status === "running", `${status} with a lease`),
    ...claim(row.isFinished === isEnd, `${status}, but finished: ${row.isFinished}`),
    ...claim(row.hasReason === isEnd, `${status}, but a reason: ${row.hasReason}`),
    ...claim(row.isTimed === (isTimed && row.hasTimeLimit), `${status}, but its time runs: ${row.isTimed}`),
    ...claim(row.isIdling === (status === "idle"), `${status}, but an idle clock: ${row.isIdling}`),
    ...claim(
      row.isQueued === ((row.pausedFrom ?? status) === "queued"),
      `${status}, but queued: ${row.isQueued}`,
    ),
    ...claim(!row.pauseRequested || status === "running", `${status} with a pause to come`),
    ...claim(
      row.pausedFrom === null || !["paused", ...ENDS].includes(row.pausedFrom),
      `over ${row.pausedFrom}`,
    ),
  ];
}

function findEventFaults(row: SessionFacts, events: readonly StoredEvent[]): string[] {
  const active = row.pausedFrom ?? row.status;
  const last = events.findLast((event) => event.type === "ActiveStateChangeEvent")?.data.state;
  const isTold = ![...AWAITING, "running", "idle"].includes(active) || last === active;
  const runs = events.findLast((event) => event.type === "AgentRunStatusChangeEvent")?.data.status;
  return [
    ...claim(
      events.every((event, i) => event.index === i),
      "the events' indexes have gaps",
    ),
    ...claim(events.length === row.nextIndex, `${events.length} events, but next_index ${row.nextIndex}`),
    ...claim(isTold, `${active}, but the last state told is ${last}`),
    ...claim(row.status !== "paused" || runs === "paused", "paused, and nobody was told"),
  ];
}

/**
 * What a provider refuses: a call without its one result right behind it, a result without its call, text behind
 * calls.
 */
export function findPromptFaults(prompt: LanguageModelV3Prompt): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  prompt.forEach((message, index) => {
    const parts = message.role === "assistant" ? message.content : [];
    const ids = parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    const next = prompt[index + 1];
    const results = next?.role === "tool" ? next.content : [];
    const resultIds = results.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));
    if (`${ids}` !== `${resultIds}`) faults.push(`calls ${ids} are followed by results of ${resultIds}`);
    if (
      parts
        .slice(parts.findIndex((part) => part.type === "tool-call"))
        .some((part) => part.type !== "tool-call")
    ) {
      if (ids.length > 0) faults.push("something stands behind the calls of a turn");
    }
    if (message.role === "tool" && prompt[index - 1]?.role !== "assistant")
      faults.push("results without calls");
    for (const id of ids) {
      if (seen.has(id)) faults.push(`the provider sees ${id} twice`);
      seen.add(id);
    }
  });
  return faults;
}

async function findWaitFaults(db: pg.ClientBase, row: SessionFacts): Promise<string[]> {
  const status = await readStatus(db, row.organizationId, row.id);
  const waiting = status && toWaitingOn(status);
  return claim((waiting === null) === ENDS.includes(row.status), `${row.status} waits on ${waiting?.what}`);
}

/** What is wrong with an organization's slots: more than the limit taken, or somebody queued beside a free one. */
export async function findSlotFaults(db: pg.Pool, organizationId: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ active: number; queued: number }>(
    `SELECT count(*) FILTER (WHERE coalesce(paused_from, status) <> 'queued')::int AS active,
            count(*) FILTER (WHERE status = 'queued')::int AS queued
       FROM sessions WHERE organization_id = $1 AND status <> ALL($2)`,
    [organizationId, ENDS],
  );
  const { active = 0, queued = 0 } = rows[0] ?? {};
  if (limit === 0) return claim(queued === 0, `${queued} queued without a limit`);
  return [
    ...claim(active <= limit, `${active} sessions have a slot of ${limit}`),
    ...claim(queued === 0 || active >= limit, `${queued} queued, and only ${active} of ${limit} slots taken`),
  ];
}
