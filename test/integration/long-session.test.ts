// A session's cost must not grow with its length: what a step sends to the database and what it adds there are the same
// for the fiftieth step and for the five hundredth.
import { claimStep } from "@tandem/engine/commands/claim-step";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type BareEngine, createBareSession, finishWith, startBareEngine } from "../support/bare-engine.ts";
import { findSessionFaults } from "../support/session-invariants.ts";

const STEPS = 500;
/** Steps that are looked at together, at the start and at the end: the middle one of them counts. */
const WINDOW = 50;

/** What one step cost. */
interface Cost {
  sentBytes: number;
  writeMs: number;
}

let bare: BareEngine;
beforeAll(async () => {
  bare = await startBareEngine();
});
afterAll(() => bare.close());

/** Counts the bytes of all values that go to the database through the engine's pool. */
function countSentBytes(pool: pg.Pool): () => number {
  let bytes = 0;
  pool.on("acquire", (client) => {
    const { query } = client;
    if (query !== pg.Client.prototype.query) return;
    client.query = ((...args: unknown[]) => {
      bytes += JSON.stringify(args).length;
      return (query as (...all: unknown[]) => unknown).apply(client, args);
    }) as typeof client.query;
  });
  return () => bytes;
}

const medianOf = (costs: Cost[], what: keyof Cost): number =>
  costs.map((cost) => cost[what]).sort((a, b) => a - b)[Math.floor(costs.length / 2)] ?? 0;

it("a session of 500 steps stays linear", async () => {
  const { engine } = bare;
  const principal = await bare.addOrganization("default");
  const { organizationId } = principal;
  const sessionId = await createBareSession(engine, principal);
  const readSent = countSentBytes(engine.pool);
  const readStored = async () => {
    const { rows } = await engine.pool.query(
      `SELECT (SELECT pg_column_size(sessions.*) FROM sessions WHERE id = $1) AS row,
              (SELECT count(*)::int FROM events WHERE session_id = $1) AS events,
              (SELECT sum(pg_column_size(events.*))::int FROM events WHERE session_id = $1) AS bytes`,
      [sessionId],
    );
    return rows[0] as { row: number; events: number; bytes: number };
  };

  const readCalls = async (id: string) =>
    (
      await engine.pool.query<{ id: string }>(
        "SELECT id FROM tool_calls WHERE session_id = $1 AND state = 'pending'",
        [id],
      )
    ).rows;
  const runStep = async (n: number): Promise<Cost> => {
    const step = await claimStep(engine, { sessionId, leaseMs: 600_000, worker: "test" });
    if (!step) throw new Error(`Step ${n} is not due.`);
    const [sentBefore, startedAt] = [readSent(), performance.now()];
    await finishWith(engine, step, { calls: [{ tool: "look", args: { n } }] });
    const [call] = await readCalls(sessionId);
    const posted = {
      kind: "tool_result",
      result: "sunny",
      truncated: false,
      output_artifact_path: null,
    } as const;
    await submitToolResults(engine, {
      ...{ organizationId, sessionId, userName: "tester", locOf: () => [] },
      entries: [{ ...posted, tool_req: { tool_name: "look", args: { n }, id: call?.id ?? null } }],
    });
    return { sentBytes: readSent() - sentBefore, writeMs: performance.now() - startedAt };
  };

  const costs: Cost[] = [];
  let early = await readStored();
  for (let n = 0; n < STEPS; n++) {
    costs.push(await runStep(n));
    if (n === WINDOW) early = await readStored();
  }
  const late = await readStored();
  const [first, last] = [costs.slice(WINDOW, 2 * WINDOW), costs.slice(-WINDOW)];
  expect(medianOf(first, "sentBytes")).toBeGreaterThan(500);
  expect(medianOf(last, "sentBytes")).toBeLessThan(1.1 * medianOf(first, "sentBytes"));
  expect(medianOf(last, "writeMs")).toBeLessThan(4 * medianOf(first, "writeMs"));
  expect(late.row).toBeLessThan(1.1 * early.row);
  expect(late.bytes / late.events).toBeLessThan(1.1 * (early.bytes / early.events));
  expect(await findSessionFaults(engine.pool, sessionId)).toEqual([]);
});
