// A session that waits for calls, and posts to it while workers have free slots.
import { claimStep } from "@tandem/engine/commands/claim-step";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import type { Principal } from "@tandem/engine/domain/api-keys";
import type { SessionKey } from "@tandem/engine/domain/ids";
import type { JsonObject } from "@tandem/engine/domain/json";
import type { ToolRequest } from "@tandem/engine/domain/tools";
import type { Engine } from "@tandem/engine/engine";
import type { Assignment, Place } from "@tandem/engine/queue/assignment";
import { afterAll, beforeAll } from "vitest";
import { type BareEngine, createBareSession, finishWith, startBareEngine } from "./bare-engine.ts";
import { countStatements } from "./count-statements.ts";

/** Arguments of all calls, beside a place of each. */
const ARGS = { city: "Paris", days: [1, 2.5], deep: { a: null } };

/** A session and the calls that it waits for. */
export interface AskedSession {
  sessionId: string;
  key: SessionKey;
  calls: ToolRequest[];
}

/** Makes one whose model has asked for so many calls. */
async function askFor(bare: BareEngine, principal: Principal, count = 1): Promise<AskedSession> {
  const sessionId = await createBareSession(bare.engine, principal);
  const key = { organizationId: principal.organizationId, sessionId };
  const step = await claimStep(bare.engine, { sessionId, leaseMs: 60_000, worker: "asked-before" });
  if (!step) throw new Error("there was nothing to claim");
  const calls = Array.from({ length: count }, (_, i) => ({
    tool: i === 1 ? "find" : "look",
    args: { ...ARGS, place: i },
  }));
  await finishWith(bare.engine, step, { calls });
  const { rows } = await bare.engine.pool.query(
    "SELECT id, tool_name, args FROM tool_calls WHERE session_id = $1 ORDER BY position",
    [sessionId],
  );
  return { sessionId, key, calls: rows };
}

/** Makes such sessions of one organization, for the tests of a file. */
export function useAskedSessions() {
  let bare: BareEngine;
  let principal: Principal;
  beforeAll(async () => {
    bare = await startBareEngine();
    principal = await bare.addOrganization("asked");
  });
  afterAll(() => bare.close());
  return {
    /** The engine; it is there once tests run. */
    get bare() {
      return bare;
    },
    ask: (count?: number) => askFor(bare, principal, count),
  };
}

/** How results are posted. */
export interface PostOptions {
  /** Told in place of the calls' own arguments. */
  args?: JsonObject | undefined;
  /** Default a few words. */
  text?: string;
  /** The workers that may keep a session. */
  preferred?: string[];
  /** Default: that of the bare engine. */
  pool?: Engine["pool"];
}

/** What came of a post: the reply or the code of its error, its statements, and what became of the places. */
export interface Posted {
  result: unknown;
  count: number;
  given: { assignment: Assignment; worker: string }[];
  abandoned: { sessionId: string; fence: number }[];
  /** Places that were reserved, and neither given nor abandoned nor released. */
  placesLeft: number;
}

/** Posts results of these calls while workers have free slots. */
export async function postAll(
  { engine: { queue, ...bare } }: BareEngine,
  { key, calls }: Pick<AskedSession, "key" | "calls">,
  { args, text = "18 °C", preferred = [], pool = bare.pool }: PostOptions = {},
): Promise<Posted> {
  const posted: Omit<Posted, "result" | "count"> = { given: [], abandoned: [], placesLeft: 0 };
  const leave = () => void posted.placesLeft--;
  const place: Place = {
    claim: { worker: "in-turn", preferred, leaseMs: 5_000 },
    give(assignment, worker) {
      posted.given.push({ assignment, worker });
      leave();
    },
    release: leave,
    abandon({ sessionId, fence }) {
      posted.abandoned.push({ sessionId, fence });
      leave();
    },
  };
  const reserve = () => {
    posted.placesLeft++;
    return place;
  };
  const engine: Engine = { ...bare, pool, queue: { ...queue, reserve } };
  const submit = () =>
    submitToolResults(engine, {
      ...{ ...key, userName: "tester", locOf: (index) => ["body", "results", index] },
      entries: calls.map((call) => ({
        kind: "tool_result",
        tool_req: { ...call, args: args ?? call.args },
        ...{ result: text, truncated: false, output_artifact_path: null },
      })),
    });
  const { result, count } = await countStatements(() => submit().catch(({ code }) => ({ code })));
  return { result, count, ...posted };
}
