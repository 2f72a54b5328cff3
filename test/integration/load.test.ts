import { READ_LOAD, readLoad } from "@tandem/engine/postgres/read-load";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BareEngine, createBareSession, startBareEngine } from "../support/bare-engine.ts";

interface Plan {
  "Node Type": string;
  "Index Name"?: string;
  Plans?: Plan[];
}

let bare: BareEngine;

beforeAll(async () => {
  bare = await startBareEngine();
});
afterAll(() => bare.close());

describe("what the metrics read of the database", () => {
  it("counts the sessions that have not ended, and no others", async () => {
    const { engine } = bare;
    const { pool } = engine;
    const principal = await bare.addOrganization("acme");
    const states = ["queued", "pending", "running", "running", "idle", "awaiting_tool_results", "completed"];
    for (const status of states) {
      const id = await createBareSession(engine, principal);
      const finished = status === "completed" ? "now()" : "NULL";
      await pool.query(
        `UPDATE sessions SET status = $2, finished_at = ${finished}, due_at = NULL WHERE id = $1`,
        [id, status],
      );
    }
    const { sessions, lagMs } = await readLoad(pool);
    expect(Object.fromEntries(sessions.map(({ status, count }) => [status, count]))).toEqual({
      queued: 1,
      pending: 1,
      running: 2,
      idle: 1,
      awaiting_tool_results: 1,
    });
    expect(lagMs).toBe(0);
  });

  it("takes for the lag the step that waits longest, and none that a worker has or that is due later", async () => {
    const { pool } = bare.engine;
    const principal = await bare.addOrganization("shop");
    const times = [
      ["now() - interval '90 seconds'", "now() + interval '1 hour'"],
      ["now() - interval '60 seconds'", "NULL"],
      ["now() - interval '30 seconds'", "NULL"],
      ["now() + interval '1 hour'", "NULL"],
    ];
    for (const [dueAt, leaseUntil] of times) {
      const id = await createBareSession(bare.engine, principal);
      await pool.query(`UPDATE sessions SET due_at = ${dueAt}, lease_until = ${leaseUntil} WHERE id = $1`, [
        id,
      ]);
    }
    const { lagMs } = await readLoad(pool);
    expect(lagMs).toBeGreaterThanOrEqual(60_000);
    expect(lagMs).toBeLessThan(89_000);
  });

  it("looks at no ended session, however many there are", async () => {
    const { pool } = bare.engine;
    const { organizationId } = await bare.addOrganization("history");
    await pool.query(
      `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools, finished_at)
       SELECT gen_random_uuid(), $1, 'x', 'completed', 'x', '{}', '{}', '[]', now() FROM generate_series(1, 30000)`,
      [organizationId],
    );
    await pool.query("ANALYZE sessions");
    const { rows } = await pool.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `EXPLAIN (FORMAT JSON) ${READ_LOAD.text}`,
    );
    const nodes = listNodes(rows[0]?.["QUERY PLAN"][0].Plan);
    expect(nodes.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
    expect([...new Set(nodes.flatMap((node) => node["Index Name"] ?? []))].sort()).toEqual([
      "sessions_active_idx",
      "sessions_due_idx",
      "sessions_queued_idx",
    ]);
  });
});

function listNodes(plan: Plan | undefined): Plan[] {
  return plan ? [plan, ...(plan.Plans ?? []).flatMap(listNodes)] : [];
}
