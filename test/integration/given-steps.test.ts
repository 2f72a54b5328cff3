// Claims that somebody else has made for a worker, beside everything else that happens to the session's row.
import { claimStep } from "@tandem/engine/commands/claim-step";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import { takeStep } from "@tandem/engine/commands/take-step";
import type { Principal } from "@tandem/engine/domain/api-keys";
import { type JsonValue, parseJson } from "@tandem/engine/domain/json";
import type { Engine } from "@tandem/engine/engine";
import { renewLease, takeBackSteps } from "@tandem/engine/postgres/leases";
import type { Assignment } from "@tandem/engine/queue/assignment";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type BareEngine, createBareSession, finishWith, startBareEngine } from "../support/bare-engine.ts";
import { countStatements } from "../support/count-statements.ts";
import { jsonText } from "../support/json-text.ts";
import { type Locks, openLocks } from "../support/row-lock.ts";
import { waitFor } from "../support/wait-for.ts";

const LEASE_MS = 60_000;

let bare: BareEngine;
let locks: Locks;
let principal: Principal;
let sessionId: string;

beforeAll(async () => {
  bare = await startBareEngine();
  locks = await openLocks(bare.databaseUrl);
  principal = await bare.addOrganization("given");
});
afterAll(async () => {
  await locks.close();
  await bare.close();
});
beforeEach(async () => {
  sessionId = await createBareSession(bare.engine, principal);
});

async function claim() {
  const step = await claimStep(bare.engine, { sessionId, leaseMs: LEASE_MS, worker: "w" });
  if (!step) throw new Error("there was nothing to claim");
  return step;
}

/** The model asks for a tool, and its result is posted while a worker has a free slot. */
async function give(result: JsonValue = "18 °C"): Promise<Assignment> {
  await finishWith(bare.engine, await claim(), { calls: [{ tool: "look", args: {} }] });
  const given: Assignment[] = [];
  const place = {
    claim: { worker: "w", preferred: [], leaseMs: LEASE_MS },
    give: (assignment: Assignment) => given.push(assignment),
    release: () => undefined,
    abandon: () => undefined,
  };
  const engine: Engine = { ...bare.engine, queue: { ...bare.engine.queue, reserve: () => place } };
  const { rows } = await engine.pool.query("SELECT id FROM tool_calls WHERE session_id = $1", [sessionId]);
  const toolReq = { id: rows.at(-1).id, tool_name: "look", args: {} };
  await submitToolResults(engine, {
    ...{ organizationId: principal.organizationId, sessionId, userName: "tester", locOf: () => ["body"] },
    entries: [
      { kind: "tool_result", tool_req: toolReq, result, truncated: false, output_artifact_path: null },
    ],
  });
  const [assignment] = given;
  if (!assignment) throw new Error("no step was given");
  return assignment;
}

const takeBack = (fence: number) => takeBackSteps(bare.engine.pool, [{ sessionId, fence }]);

it("is taken back once when its worker was not heard of", async () => {
  const { fence } = await give();
  expect(await takeBack(fence)).toEqual([{ sessionId, fence: fence + 1 }]);
  expect(await takeBack(fence)).toEqual([]);
  expect((await claim()).session).toMatchObject({ fence: fence + 2, claims: 1 });
});

it("is not taken back when the worker has claimed it by itself, which may have the token of one that was given up", async () => {
  const { session } = await claim();
  expect(await takeBack(session.fence)).toEqual([]);
  expect(await renewLease(bare.engine.pool, { sessionId, fence: session.fence, leaseMs: LEASE_MS })).not.toBe(
    null,
  );
});

it("is not taken back when its worker is heard of at the same moment", async () => {
  const { fence } = await give();
  const lock = await locks.hold("UPDATE sessions SET heartbeat_at = clock_timestamp() WHERE id = $1", [
    sessionId,
  ]);
  const taking = takeBack(fence);
  await waitFor(async () => (await lock.countWaiters()) === 1, { what: "the look to wait for the row" });
  await lock.release();
  expect(await taking).toEqual([]);
});

it("is prolonged without taking for its worker's own what another one has changed at the same moment", async () => {
  const { session } = await claim();
  const lock = await locks.hold("UPDATE sessions SET tools_version = tools_version + 1 WHERE id = $1", [
    sessionId,
  ]);
  const renewing = renewLease(bare.engine.pool, { sessionId, fence: session.fence, leaseMs: LEASE_MS });
  await waitFor(async () => (await lock.countWaiters()) === 1, { what: "the renewal to wait for the row" });
  await lock.release();
  const renewed = await renewing;
  expect(renewed?.before).not.toBe(session.version);
  const next = await renewLease(bare.engine.pool, { sessionId, fence: session.fence, leaseMs: LEASE_MS });
  expect(next?.before).toBe(renewed?.after);
});

it("is recalled as the database holds it, whatever the result is", async () => {
  await fc.assert(
    fc.asyncProperty(jsonText(), async (text) => {
      sessionId = await createBareSession(bare.engine, principal);
      const assignment = await give(parseJson(text));
      const { result: recalled, count } = await countStatements(() => takeStep(bare.engine, assignment));
      const read = await takeStep(bare.engine, { ...assignment, news: "" });
      expect(count).toBe(assignment.news === "" ? 1 : 0);
      expect(recalled?.events).toEqual(read?.events);
      expect(typeof recalled?.session.clockMs).toBe("number");
    }),
    { numRuns: 100 },
  );
});

it("goes back when it cannot be read", async () => {
  const { fence } = await give();
  const { pool } = bare.engine;
  const ask = pool.query.bind(pool) as (...values: unknown[]) => Promise<unknown>;
  let queries = 0;
  const query = async (...values: unknown[]) => {
    if (queries++ === 0) throw new Error("the connection broke");
    return ask(...values);
  };
  const broken = { ...bare.engine, pool: Object.create(pool, { query: { value: query } }) };
  await expect(takeStep(broken, { sessionId, fence, news: "" })).rejects.toThrow("the connection broke");
  expect((await claim()).session).toMatchObject({ fence: fence + 2, claims: 1 });
});
