// What can happen to the calls of one session: for each thing, what the model says of it and how it is done to the
// engine.
import { claimCall } from "@tandem/engine/commands/claim-call";
import type { ClaimedStep } from "@tandem/engine/commands/claim-step";
import { decideCalls } from "@tandem/engine/commands/decide-calls";
import { replaceTools } from "@tandem/engine/commands/replace-tools";
import { reportProgress } from "@tandem/engine/commands/report-progress";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import { takeStep } from "@tandem/engine/commands/take-step";
import type { Engine } from "@tandem/engine/engine";
import type { Assignment, Place } from "@tandem/engine/queue/assignment";
import { expect } from "vitest";
import { type Decided, type ModelSession, type Posted, placesOf } from "./modelled-session.ts";
import { type Action, LEASE_S } from "./session-actions.ts";
import { keyOf, type Walk, type WalkSession } from "./session-walk.ts";
import { TOOLSETS, type Toolset } from "./walk-tools.ts";

/** How long a call is claimed, in seconds. */
export const CLAIM_S = 350;

/** Without calls all of this comes to the same. */
const hasCalls = ({ calls }: ModelSession) => calls.length > 0;

/** Posts entries that may depend on the calls that the session has. */
export const post = (words: string, toEntries: (session: ModelSession) => Posted[]): Action => ({
  words: `post ${words}`,
  expected: (model, session, at) => model.post(session, toEntries(at)),
  async act(walk, session, at) {
    const ids = await readCallIds(walk, session);
    const receipt = await submitToolResults(walk.engine, {
      ...keyOf(walk, session),
      entries: toEntries(at).map((entry) => toPostedResult(entry, at, ids)),
      locOf: (index) => ["body", "results", index],
      userName: "tester",
    });
    return toOutcome({ pending_approvals: [], ...receipt }, ids);
  },
});

/** The same while a worker has a free slot, which gets the next step with the last result. */
export const postAndGive = (words: string, toEntries: (session: ModelSession) => Posted[]): Action => ({
  words: `post and give ${words}`,
  expected: (model, session, at) => model.postAndGive(session, toEntries(at), LEASE_S),
  async act(walk, session, at) {
    const given: Assignment[] = [];
    const place: Place = {
      claim: { worker: "test", preferred: [], leaseMs: LEASE_S * 1_000 },
      give: (assignment) => given.push(assignment),
      release: () => undefined,
      abandon: () => undefined,
    };
    const queue = { ...walk.engine.queue, reserve: () => place };
    const engine = { ...walk.engine, queue };
    const receipt = await post(words, toEntries).act({ ...walk, engine }, session, at);
    for (const assignment of given) session.steps.push(await takeAsRead(engine, assignment));
    return { ...(receipt as object), isGiven: given.length > 0 };
  },
});

/** Takes a step up, from memory where that goes: as it is in the database. */
async function takeAsRead(engine: Engine, assignment: Assignment): Promise<ClaimedStep> {
  const taken = await takeStep(engine, assignment);
  const read = await takeStep(engine, { ...assignment, news: "" });
  if (!taken || !read) throw new Error("What was given away was not held.");
  expect(withoutClocks(taken)).toEqual(withoutClocks(read));
  return taken;
}

/** Without the times that pass. */
function withoutClocks({ session, events }: ClaimedStep) {
  const { clockMs, receivedMs, stateMs, waitedMs, ...rest } = session;
  return { ...rest, events };
}

/** Decides on calls that the session has. */
export const decide = (words: string, toEntries: (session: ModelSession) => Decided[]): Action => ({
  words: `decide ${words}`,
  isPossible: hasCalls,
  expected: (model, session, at) => model.decide(session, toEntries(at)),
  async act(walk, session, at) {
    const ids = await readCallIds(walk, session);
    const entries = toEntries(at).map(({ call, args, ...decided }) => ({
      ...decided,
      callId: toId(ids, call, at),
      args: args === null ? null : JSON.parse(args),
    }));
    const receipt = await decideCalls(walk.engine, {
      ...keyOf(walk, session),
      ...{ entries, locOf: (index) => ["body", "approvals", index], userName: "tester" },
    });
    return toOutcome(receipt, ids);
  },
});

/** Says how far a call is. */
export const progress = (place: number): Action => ({
  words: `progress of call ${place}`,
  isPossible: hasCalls,
  expected: (model, session) => model.progress(session, place),
  async act(walk, session, at) {
    const callId = toId(await readCallIds(walk, session), place, at);
    const key = { ...keyOf(walk, session), callId };
    const deadline = await reportProgress(walk.engine, { ...key, progress: { half: true } });
    return deadline === null ? null : "a deadline";
  },
});

/** Claims a call for one of those who run them. */
export const claimForRun = (claim: { call: number; claimant: string; leaseS: number }): Action => ({
  words: `claim of call ${claim.call} by ${claim.claimant} for ${claim.leaseS} s`,
  isPossible: hasCalls,
  expected: (model, session) => model.claimCall(session, claim),
  async act(walk, session, at) {
    const callId = toId(await readCallIds(walk, session), claim.call, at);
    const taken = await claimCall(walk.engine, { ...keyOf(walk, session), ...claim, callId });
    return { isHeld: taken.claimedUntil !== null, previous: taken.previousClaimant };
  },
});

/** Gives the session other tools. */
export const putTools = (tools: Toolset): Action => ({
  words: `put the ${tools} tools`,
  expected: (model, session) => model.replaceTools(session, tools),
  act: (walk, session) => replaceTools(walk.engine, { ...keyOf(walk, session), tools: [...TOOLSETS[tools]] }),
});

/** An entry for each of the calls that wait, in this order; for the first call of all when none does. */
export function toWaitingEntries({ calls }: ModelSession, order: number[]): Posted[] {
  return pick(placesOf(calls, "pending"), order).map((call) => ({
    ...{ call, by: "id", isMisnamed: false, value: "sun" },
  }));
}

/** A decision on each of the calls that wait for one, in this order; on the first call of all when none does. */
export function toWaitingDecisions(
  { calls }: ModelSession,
  order: number[],
  decided: Partial<Decided> = {},
): Decided[] {
  return pick(placesOf(calls, "awaiting_approval"), order).map((call) => ({
    ...{ call, decision: "allow", message: null, args: null, remember: false, ...decided },
  }));
}

function pick(places: readonly number[], order: readonly number[]): number[] {
  const picked = order.flatMap((nth) => places[nth] ?? []);
  return picked.length > 0 ? picked : [0];
}

interface Receipt {
  receipts: { status: string }[];
  resumed: boolean;
  pending: string[];
  pending_approvals: string[];
}

/** With the places of calls in place of their ids. */
function toOutcome({ receipts, resumed, pending, pending_approvals }: Receipt, ids: readonly string[]) {
  const toPlaces = (open: readonly string[]) => open.map((id) => ids.indexOf(id));
  return {
    ...{ receipts: receipts.map(({ status }) => status), resumed },
    ...{ pending: toPlaces(pending), approvals: toPlaces(pending_approvals) },
  };
}

async function readCallIds({ engine }: Walk, { id }: WalkSession): Promise<string[]> {
  const { rows } = await engine.pool.query<{ id: string }>(
    "SELECT id FROM tool_calls WHERE session_id = $1 AND state <> 'refused' ORDER BY step, position",
    [id],
  );
  return rows.map(({ id }) => id);
}

function toId(ids: readonly string[], place: number | null, { calls }: ModelSession): string {
  return place === null ? "call_nobody" : (ids[place % Math.max(calls.length, 1)] ?? "call_nobody");
}

function toPostedResult(entry: Posted, at: ModelSession, ids: string[]) {
  const call = entry.call === null ? undefined : at.calls[entry.call % Math.max(at.calls.length, 1)];
  const toolReq = {
    tool_name: entry.isMisnamed ? "other" : (call?.tool ?? "look"),
    args: JSON.parse(call?.args ?? "{}"),
    id: entry.by === "id" || !call ? toId(ids, entry.call, at) : null,
  };
  return entry.value === "error"
    ? { kind: "error_event" as const, error: "It broke.", origin: "client", tool_req: toolReq }
    : {
        ...{ kind: "tool_result" as const, result: entry.value, tool_req: toolReq },
        ...{ truncated: false, output_artifact_path: null },
      };
}
