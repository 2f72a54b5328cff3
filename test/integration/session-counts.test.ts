import { sweepExpired } from "@tandem/engine/commands/sweep";
import type { Principal } from "@tandem/engine/domain/api-keys";
import { foldSessionCounts } from "@tandem/engine/postgres/count-sessions";
import { inTransaction } from "@tandem/engine/postgres/transaction";
import { listSessions } from "@tandem/engine/queries/list-sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BareEngine, createBareSession, startBareEngine } from "../support/bare-engine.ts";

let bare: BareEngine;
let owner: Principal;

beforeEach(async () => {
  bare = await startBareEngine();
  owner = await bare.addOrganization("acme");
});
afterEach(() => bare.close());

const query = (text: string, values?: unknown[]) => bare.engine.pool.query(text, values);

async function totalOf({ organizationId, userName }: Partial<Principal> & { organizationId: string }) {
  const filter = { organizationId, ...(userName === undefined ? {} : { userName }) };
  const options = { filter, oldestFirst: false, offset: 0, limit: 1 };
  return (await listSessions(bare.engine, options)).total;
}

async function readNumber(text: string): Promise<number> {
  const { rows } = await query(text);
  return Number(rows[0].number);
}
const countSessions = () => readNumber("SELECT count(*) AS number FROM sessions");
const countRows = () => readNumber("SELECT count(*) AS number FROM session_counts");

/** Loads ended sessions in one statement. */
async function load(count: number, { organizationId, userName }: Principal, more = ""): Promise<void> {
  await query(
    `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools, finished_at,
                           delete_after_min)
     SELECT gen_random_uuid(), $1, $2, 'completed', 'x', '{}', '{}', '[]', now() - interval '1 hour', 1
       FROM generate_series(1, $3) ${more}`,
    [organizationId, userName, count],
  );
}

describe("an owner's number of sessions", () => {
  it("is right while sessions begin, are deleted, and their counts are folded, all at once", async () => {
    const still = await bare.addOrganization("still");
    for (let part = 0; part < 50; part++) await load(2, still);
    const seen = new Set<number>();
    let isOver = false;
    const watch = async () => {
      while (!isOver) seen.add(await totalOf(still));
    };
    const change = async () => {
      for (let turn = 0; turn < 40; turn++) {
        await createBareSession(bare.engine, owner);
        if (turn % 4 === 0)
          await query(
            "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE organization_id = $1 LIMIT 2 FOR UPDATE SKIP LOCKED)",
            [owner.organizationId],
          );
        if (turn % 3 === 0) await foldSessionCounts(bare.engine.pool);
      }
    };
    const changes = Promise.all([change(), change(), change(), change()]).finally(() => {
      isOver = true;
    });
    await Promise.all([changes, watch()]);
    expect([...seen]).toEqual([100]);
    expect((await totalOf(owner)) + 100).toBe(await countSessions());
    await foldSessionCounts(bare.engine.pool);
    expect((await totalOf(owner)) + 100).toBe(await countSessions());
  });

  it("is the same for an owner alone and for all of the organization, each by itself", async () => {
    const ann = { ...owner, userName: "ann" };
    await load(3, owner);
    await load(4, ann);
    const { organizationId } = owner;
    expect([await totalOf(owner), await totalOf(ann), await totalOf({ organizationId })]).toEqual([3, 4, 7]);
  });

  it("does not count what was rolled back", async () => {
    await load(2, owner);
    const failing = inTransaction(bare.engine.pool, async (tx) => {
      await tx.query("DELETE FROM sessions");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await totalOf(owner)).toBe(2);
  });

  it("follows the removal of what is kept for a time only", async () => {
    await load(120, owner);
    await sweepExpired(bare.engine);
    expect([await totalOf(owner), await countSessions()]).toEqual([0, 0]);
  });

  it("follows changes that nobody told it of: another owner, a deleted organization, an emptied table", async () => {
    await load(5, owner);
    await query("UPDATE sessions SET user_name = 'ann' WHERE id IN (SELECT id FROM sessions LIMIT 2)");
    expect([await totalOf(owner), await totalOf({ ...owner, userName: "ann" })]).toEqual([3, 2]);
    const other = await bare.addOrganization("other");
    await load(5, other);
    await query("DELETE FROM organizations WHERE id = $1", [owner.organizationId]);
    const { organizationId } = owner;
    expect([await totalOf({ organizationId }), await totalOf(other)]).toEqual([0, 5]);
    await query("TRUNCATE sessions CASCADE");
    expect(await totalOf(other)).toBe(0);
  });

  it("is kept in few rows, and in none when nothing is left", async () => {
    for (let part = 0; part < 40; part++) await load(1, owner);
    expect(await countRows()).toBe(40);
    await foldSessionCounts(bare.engine.pool);
    expect([await countRows(), await totalOf(owner)]).toEqual([1, 40]);
    await query("DELETE FROM organizations WHERE id = $1", [owner.organizationId]);
    await foldSessionCounts(bare.engine.pool);
    expect(await countRows()).toBe(0);
  });

  it("keeps nobody waiting: a transaction that hangs after its session holds up no other", async () => {
    const hanging = await bare.engine.pool.connect();
    await hanging.query("BEGIN");
    await hanging.query(
      `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools)
       VALUES (gen_random_uuid(), $1, $2, 'completed', 'x', '{}', '{}', '[]')`,
      [owner.organizationId, owner.userName],
    );
    for (let turn = 0; turn < 40; turn++) {
      await inTransaction(bare.engine.pool, async (tx) => {
        await tx.query("SET LOCAL lock_timeout = 1");
        await tx.query(
          `INSERT INTO sessions (id, organization_id, user_name, status, agent_name, request, agent, tools)
           VALUES (gen_random_uuid(), $1, $2, 'completed', 'x', '{}', '{}', '[]')`,
          [owner.organizationId, owner.userName],
        );
      });
    }
    await inTransaction(bare.engine.pool, async (tx) => {
      await tx.query("SET LOCAL lock_timeout = 1");
      await foldSessionCounts(tx);
    });
    expect(await totalOf(owner)).toBe(40);
    await hanging.query("COMMIT");
    hanging.release();
    expect(await totalOf(owner)).toBe(41);
  });
});
