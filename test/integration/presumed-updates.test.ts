// The statement that writes on a presumption beside the one that compares with what was read before.
import type { Principal } from "@tandem/engine/domain/api-keys";
import { readSessionWithCalls } from "@tandem/engine/postgres/tool-calls";
import { updatePresumed } from "@tandem/engine/postgres/update-presumed";
import { type SessionUpdate, updateUnchanged } from "@tandem/engine/postgres/update-session";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AskedSession, askFor } from "../support/asked-session.ts";
import { type BareEngine, startBareEngine } from "../support/bare-engine.ts";

let bare: BareEngine;
let principal: Principal;

beforeAll(async () => {
  bare = await startBareEngine();
  principal = await bare.addOrganization("presuming");
});
afterAll(() => bare.close());

const toRunning = ({ calls }: AskedSession): SessionUpdate => ({
  ...{ patch: { status: "running" }, events: [], due: "now" },
  answered: calls.map(({ id }) => ({ id, contentHash: Buffer.from("hash") })),
  claim: { worker: "w", leaseMs: 5_000, isGiven: true },
});

it("a session that somebody else holds is not waited for by the statement that presumes", async () => {
  const asked = await askFor(bare, principal);
  const holder = await bare.engine.pool.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT FROM sessions WHERE id = $1 FOR UPDATE", [asked.sessionId]);
  const presumed = { ...asked.key, calls: asked.calls };
  expect(await updatePresumed(bare.engine.pool, presumed, toRunning(asked))).toEqual({
    written: null,
    found: null,
  });
  await holder.query("COMMIT");
  holder.release();
});

it.each([false, true])(
  "tells the same of the change as one that has read before, with clocks: %s",
  async (hasClocks) => {
    const [read, presumed] = [await askFor(bare, principal), await askFor(bare, principal)];
    for (const { sessionId } of [read, presumed]) {
      await bare.engine.pool.query(
        `UPDATE sessions SET state_since = now() - interval '1 h', call_deadline_at = $2::timestamptz,
              time_limit_at = $3::timestamptz WHERE id = $1`,
        [sessionId, ...(hasClocks ? ["2100-01-01T00:00:00Z", "2100-01-02T00:00:00Z"] : [null, null])],
      );
    }
    const { pool } = bare.engine;
    const found = await readSessionWithCalls(pool, read.key, { ids: [], toolNames: [] });
    const before = found && (await updateUnchanged(pool, found.session, toRunning(read)));
    const outcome = await updatePresumed(
      pool,
      { ...presumed.key, calls: presumed.calls },
      toRunning(presumed),
    );
    const [one, other] = [before?.change, outcome?.written?.change];
    const about = { sessionId: "", timer: one?.timer && { ...one.timer, delayMs: expect.any(Number) } };
    const afterMs = expect.closeTo(one?.move?.afterMs ?? 0, -4);
    expect({ ...other, sessionId: "" }).toEqual({ ...one, ...about, move: { ...one?.move, afterMs } });
    expect(one?.timer === null).toBe(!hasClocks);
    expect(one?.move?.afterMs).toBeGreaterThan(3_000_000);
  },
);
