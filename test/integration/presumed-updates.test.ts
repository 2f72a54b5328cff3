// The statement that writes on a presumption beside the one that compares with what was read before.
import { readSessionWithCalls } from "@tandem/engine/postgres/tool-calls";
import { updatePresumed } from "@tandem/engine/postgres/update-presumed";
import { type SessionUpdate, updateUnchanged } from "@tandem/engine/postgres/update-session";
import { expect, it } from "vitest";
import { type AskedSession, useAskedSessions } from "../support/asked-session.ts";

const sessions = useAskedSessions();
const { ask } = sessions;

const toRunning = ({ calls }: AskedSession): SessionUpdate => ({
  ...{ patch: { status: "running" }, events: [], due: "now" },
  answered: calls.map(({ id }) => ({ id, contentHash: Buffer.from("hash") })),
  claim: { worker: "w", leaseMs: 5_000, isGiven: true },
});

it("a session that somebody else holds is not waited for by the statement that presumes", async () => {
  const asked = await ask();
  const holder = await sessions.bare.engine.pool.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT FROM sessions WHERE id = $1 FOR UPDATE", [asked.sessionId]);
  const presumed = { ...asked.key, calls: asked.calls };
  expect(await updatePresumed(sessions.bare.engine.pool, presumed, toRunning(asked))).toEqual({
    written: null,
    found: null,
  });
  await holder.query("COMMIT");
  holder.release();
});

it.each([false, true])(
  "tells the same of the change as one that has read before, with clocks: %s",
  async (hasClocks) => {
    const [read, presumed] = [await ask(), await ask()];
    for (const { sessionId } of [read, presumed]) {
      await sessions.bare.engine.pool.query(
        `UPDATE sessions SET state_since = now() - interval '1 h', call_deadline_at = $2::timestamptz,
              time_limit_at = $3::timestamptz WHERE id = $1`,
        [sessionId, ...(hasClocks ? ["2100-01-01T00:00:00Z", "2100-01-02T00:00:00Z"] : [null, null])],
      );
    }
    const { pool } = sessions.bare.engine;
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
