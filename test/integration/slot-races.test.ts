// Two things at once that take, give or want a slot: the limit is never exceeded, nobody waits beside a free slot, and
// what comes of it is what comes of one after the other.
import { admitEverywhere } from "@tandem/engine/commands/admit-sessions";
import { cancelSession } from "@tandem/engine/commands/cancel-session";
import { sendMessages } from "@tandem/engine/commands/send-messages";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BareEngine, createBareSession, startBareEngine, userMessage } from "../support/bare-engine.ts";
import type { Expected, ModelSession } from "../support/modelled-session.ts";
import { type Locks, openLocks } from "../support/row-lock.ts";
import { claim, finish, steer } from "../support/session-actions.ts";
import { findSessionFaults, findSlotFaults } from "../support/session-invariants.ts";
import { SessionModel } from "../support/session-model.ts";
import {
  createReal,
  readRows,
  run,
  settle,
  toRow,
  type Walk,
  type WalkSession,
} from "../support/session-walk.ts";
import { waitFor } from "../support/wait-for.ts";

const LIMIT = 2;
/** The sessions of every race, in the order in which they are made. */
const CAST = ["ended", "impatient", "starting", "running", "first", "second", "paused"] as const;
const options = (queue: boolean) => ({ idle: null, maxTime: null, maxSteps: null, queue });

/** The rows of the cast, and then those of whoever was made in the race, whose order nobody knows. */
const inOrder = (rows: object[]) => [
  ...rows.slice(0, CAST.length),
  ...rows.slice(CAST.length).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
];

/** Something that somebody does about slots. */
interface Move {
  words: string;
  expected(model: SessionModel): Expected;
  act(walk: Walk, model: SessionModel): Promise<unknown>;
}

const create = (queue: boolean): Move => ({
  words: queue ? "create" : "create without queueing",
  expected: (model) => model.create(options(queue)),
  act: (walk) => createReal(walk, options(queue)),
});

const moveOf = (who: (typeof CAST)[number], action: ReturnType<typeof steer>): Move => ({
  words: `${action.words} the ${who} one`,
  expected(model) {
    const session = model.sessions[CAST.indexOf(who)] as ModelSession;
    return action.expected(model, session, structuredClone(session));
  },
  act(walk, model) {
    const place = CAST.indexOf(who);
    const at = structuredClone(model.sessions[place] as ModelSession);
    return action.act(walk, walk.sessions[place] as WalkSession, at);
  },
});

const moves: Move[] = [
  create(true),
  create(false),
  moveOf("starting", steer("cancel")),
  moveOf("running", finish("answer")),
  moveOf("first", steer("cancel")),
  moveOf("first", steer("pause")),
  moveOf("first", steer("message")),
  moveOf("paused", steer("resume")),
  moveOf("ended", steer("message")),
  moveOf("impatient", steer("message")),
  { words: "give free slots on", expected: () => ({}), act: ({ engine }) => admitEverywhere(engine) },
];

describe("two that take or give slots at once", () => {
  let bare: BareEngine;
  let locks: Locks;
  let count = 0;
  beforeAll(async () => {
    bare = await startBareEngine();
    locks = await openLocks(bare.databaseUrl);
  });
  afterAll(async () => {
    await locks.close();
    await bare.close();
  });

  const startWalk = async (): Promise<Walk> => {
    const principal = await bare.addOrganization(`race ${count++}`);
    return { bare, engine: bare.withLimit(LIMIT), principal, stranger: principal, sessions: [] };
  };

  const arrange = async () => {
    const walk = await startWalk();
    const model = new SessionModel(LIMIT);
    const doTo = (who: (typeof CAST)[number], action: ReturnType<typeof steer>) =>
      run(model, walk, { place: CAST.indexOf(who), action });
    for (const who of CAST) {
      await create(who !== "impatient").act(walk, model);
      model.create(options(who !== "impatient"));
      if (who === "ended" || who === "impatient") await doTo(who, steer("cancel"));
    }
    await doTo("running", claim);
    await doTo("paused", steer("pause"));
    return { model, walk };
  };

  /** Holds the organization's admission lock until both wait for it, or have no need to. */
  const race = async (walk: Walk, model: SessionModel, pair: [Move, Move]) => {
    const lock = await locks.hold("SELECT pg_advisory_xact_lock($1, hashtext($2))", [
      0x534c4f54,
      walk.principal.organizationId,
    ]);
    let open = 0;
    const outcomes: ReturnType<typeof settle>[] = [];
    try {
      for (const move of pair) {
        open++;
        const outcome = settle(move.act(walk, model));
        const end = () => void open--;
        outcome.then(end, end);
        outcomes.push(outcome);
        await waitFor(async () => (await lock.countWaiters()) >= open, { what: `${move.words} to wait` });
      }
    } finally {
      await lock.release();
    }
    return Promise.all(outcomes);
  };

  const toOutcome = (model: SessionModel, order: [number, Move][]) => {
    const errors: (string | undefined)[] = [];
    for (const [index, move] of order) {
      errors[index] = move.expected(model).error;
      model.admit();
    }
    return { errors, rows: inOrder(model.sessions.map((session) => toRow(model, session))) };
  };

  it.each(moves.map((move) => [move.words, move] as const))(
    "come to one after the other: %s",
    async (_, first) => {
      for (const second of moves) {
        if (first === second && !first.words.startsWith("create")) continue;
        const { model, walk } = await arrange();
        const outcomes = await race(walk, model, [first, second]);
        const rows = inOrder((await readRows(walk)).map(({ row }) => row));
        const legal = [
          toOutcome(model.clone(), [
            [0, first],
            [1, second],
          ]),
          toOutcome(model.clone(), [
            [1, second],
            [0, first],
          ]),
        ];
        const words = `${first.words}, and ${second.words}`;
        expect(legal, words).toContainEqual({ errors: outcomes.map(({ error }) => error), rows });
        expect(await findSlotFaults(bare.engine.pool, walk.principal.organizationId, LIMIT), words).toEqual(
          [],
        );
        for (const { id } of walk.sessions)
          expect(await findSessionFaults(bare.engine.pool, id), words).toEqual([]);
      }
    },
  );

  it("a message that restarts a session and a slot that is given on do not wait for each other", async () => {
    const walk = await startWalk();
    const unlimited = { ...walk, engine: bare.engine };
    const { organizationId } = walk.principal;
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push(await createBareSession(walk.engine, walk.principal));
    const [a, b, first, second] = ids as [string, string, string, string];
    // Both slots are free, and nobody has given them on.
    for (const sessionId of [a, b]) await cancelSession(unlimited.engine, { organizationId, sessionId });
    const lock = await locks.holdSession(first);
    const giving = admitEverywhere(walk.engine);
    await waitFor(async () => (await lock.countWaiters()) === 1, { what: "the giving to wait" });
    await cancelSession(unlimited.engine, { organizationId, sessionId: second });
    const sending = sendMessages(walk.engine, {
      organizationId,
      sessionId: second,
      messages: [userMessage("?")],
    });
    await waitFor(async () => (await lock.countWaiters()) === 2, { what: "the message to wait" });
    await lock.release();
    await Promise.all([giving, sending]);
    expect(await findSlotFaults(bare.engine.pool, organizationId, LIMIT)).toEqual([]);
    for (const id of [first, second]) expect(await findSessionFaults(bare.engine.pool, id)).toEqual([]);
  });

  it("and a crowd of them leave no slot too many taken, and none free that is wanted", async () => {
    const walk = await startWalk();
    const { organizationId } = walk.principal;
    const { engine } = walk;
    const create = () => createBareSession(engine, walk.principal);
    const ids = await Promise.all(Array.from({ length: 8 }, create));
    const key = (place: number) => ({ organizationId, sessionId: ids[place % ids.length] as string });
    for (let round = 0; round < 4; round++) {
      await Promise.all([
        ...Array.from({ length: 6 }, (_, i) => cancelSession(engine, key(i * 3 + round))),
        ...Array.from({ length: 6 }, (_, i) =>
          sendMessages(engine, { ...key(i * 5 + round), messages: [userMessage("?")] }),
        ),
        create().then((id) => ids.push(id)),
        admitEverywhere(engine),
      ]);
      expect(await findSlotFaults(bare.engine.pool, organizationId, LIMIT)).toEqual([]);
    }
    for (const id of ids) expect(await findSessionFaults(bare.engine.pool, id)).toEqual([]);
  });
});
