// What an operation costs the database, in statements: each is a round trip, and outside of a transaction a commit.
// More of them is a decision, not an accident.
import { claimCall } from "@tandem/engine/commands/claim-call";
import { claimStep } from "@tandem/engine/commands/claim-step";
import { sendMessages } from "@tandem/engine/commands/send-messages";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import { takeStep } from "@tandem/engine/commands/take-step";
import type { Principal } from "@tandem/engine/domain/api-keys";
import { createChangesReader } from "@tandem/engine/queries/changes-reader";
import type { Assignment } from "@tandem/engine/queue/assignment";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type BareEngine,
  createBareSession,
  finishWith,
  startBareEngine,
  userMessage,
} from "../support/bare-engine.ts";
import { countStatements } from "../support/count-statements.ts";

let bare: BareEngine;
let principal: Principal;
let sessionId: string;

beforeAll(async () => {
  bare = await startBareEngine();
  principal = await bare.addOrganization("counted");
});
afterAll(() => bare.close());
beforeEach(async () => {
  sessionId = await createBareSession(bare.engine, principal);
});

const claim = () => claimStep(bare.engine, { sessionId, leaseMs: 60_000, worker: "w" });

async function claimed() {
  const step = await claim();
  if (!step) throw new Error("there was nothing to claim");
  return step;
}

const askForTwo = async () => {
  const calls = ["look", "find"].map((tool) => ({ tool, args: {} }));
  return finishWith(bare.engine, await claimed(), { calls });
};

const key = () => ({ organizationId: principal.organizationId, sessionId });

async function pendingIds(): Promise<string[]> {
  const { rows } = await bare.engine.pool.query<{ id: string }>(
    "SELECT id FROM tool_calls WHERE session_id = $1 AND state = 'pending' ORDER BY position",
    [sessionId],
  );
  return rows.map(({ id }) => id);
}

const submit = (id: string, toolName: string) =>
  submitToolResults(bare.engine, {
    ...key(),
    locOf: () => ["body"],
    userName: "tester",
    entries: [
      {
        kind: "tool_result",
        tool_req: { id, tool_name: toolName, args: {} },
        result: "18 °C",
        truncated: false,
        output_artifact_path: null,
      },
    ],
  });

/** Posts a result while a worker has a free slot. */
async function submitAndGive(id: string) {
  const given: Assignment[] = [];
  const { queue } = bare.engine;
  const reserve = queue.reserve;
  queue.reserve = () => ({
    claim: { worker: "w", preferred: [], leaseMs: 60_000 },
    give: (assignment) => given.push(assignment),
    release: () => undefined,
    abandon: () => undefined,
  });
  const { count } = await countStatements(() => submit(id, "look"));
  queue.reserve = reserve;
  const [result] = given;
  if (!result) throw new Error("no step was given");
  return { result, count };
}

describe("statements: one is enough", () => {
  it("for a new session", async () => {
    const { count } = await countStatements(() => createBareSession(bare.engine, principal));
    expect(count).toBe(1);
  });

  it("for a poll, whether there is something new or not", async () => {
    const reader = createChangesReader(bare.engine);
    for (const fromIndex of [0, 1]) {
      const { result, count } = await countStatements(() =>
        reader.read({ ...key(), fromIndex, limit: null }),
      );
      expect(result.nextIndex).toBe(1);
      expect(count).toBe(1);
    }
  });

  it("for the claim of a step with its history", async () => {
    await askForTwo();
    const [look = "", find = ""] = await pendingIds();
    await submit(look, "look");
    await submit(find, "find");
    const { result, count } = await countStatements(claim);
    expect(result?.events).toHaveLength(4);
    expect(count).toBe(1);
  });

  it("for a claim of a call, won or lost", async () => {
    await askForTwo();
    const [look = ""] = await pendingIds();
    const claimAs = (claimant: string) =>
      claimCall(bare.engine, { ...key(), callId: look, claimant, leaseS: 60 }).catch(({ code }) => code);
    const won = await countStatements(() => claimAs("one"));
    expect(won).toEqual({ result: { claimedUntil: expect.any(Date), previousClaimant: null }, count: 1 });
    expect(await countStatements(() => claimAs("two"))).toEqual({ result: "call_claimed", count: 1 });
  });

  it("for a step's effects: calls, or an answer", async () => {
    const first = await claimed();
    const calls = [{ tool: "look", args: {} }];
    const asked = await countStatements(() => finishWith(bare.engine, first, { calls }));
    expect(asked).toEqual({ result: true, count: 1 });
    const [id = ""] = await pendingIds();
    await submit(id, "look");
    const second = await claimed();
    const answered = await countStatements(() => finishWith(bare.engine, second, { text: "Done." }));
    expect(answered).toEqual({ result: true, count: 1 });
  });
});

describe("statements: none is needed", () => {
  it("by a worker that has written the step before, until the model is asked", async () => {
    await finishWith(bare.engine, await claimed(), { calls: [{ tool: "look", args: {} }] });
    const [id = ""] = await pendingIds();
    const { result, count } = await submitAndGive(id);
    expect(count).toBe(1);
    const taken = await countStatements(() => takeStep(bare.engine, result));
    expect(taken.result?.events).toHaveLength(3);
    expect(taken.count).toBe(0);
    // Another one reads it, in one.
    expect((await countStatements(() => takeStep(bare.engine, result))).count).toBe(1);
    if (!taken.result) throw new Error("the step was not taken up");
    const { session } = taken.result;
    const done = await countStatements(() =>
      finishWith(bare.engine, { session, events: [] }, { text: "18" }),
    );
    expect(done).toEqual({ result: true, count: 1 });
  });
});

describe("statements: two are enough", () => {
  it("for the claim that starts a session", async () => {
    const { result, count } = await countStatements(claim);
    expect(result?.events).toHaveLength(1);
    expect(count).toBe(2);
  });

  it("for the claim that takes messages up", async () => {
    await askForTwo();
    await sendMessages(bare.engine, { ...key(), messages: [userMessage("And Rome?")] });
    const [look = "", find = ""] = await pendingIds();
    await submit(look, "look");
    await submit(find, "find");
    const { result, count } = await countStatements(claim);
    expect(JSON.stringify(result?.events)).toContain("And Rome?");
    expect(count).toBe(2);
  });

  it("for a result, the last one and one before", async () => {
    await askForTwo();
    const [look = "", find = ""] = await pendingIds();
    const before = await countStatements(() => submit(look, "look"));
    expect(before.result.pending).toEqual([find]);
    expect(before.count).toBe(2);
    const last = await countStatements(() => submit(find, "find"));
    expect(last.result.resumed).toBe(true);
    expect(last.count).toBe(2);
  });
});

describe("statements: where others were there meanwhile", () => {
  it("a step is written under the row's lock, and none of theirs is lost", async () => {
    const step = await claimed();
    await sendMessages(bare.engine, { ...key(), messages: [userMessage("Wait!")] });
    const { result, count } = await countStatements(() => finishWith(bare.engine, step, { text: "Done." }));
    expect(result).toBe(true);
    // One in vain; then BEGIN, the lock, a look for messages, the write, COMMIT.
    expect(count).toBe(6);
    const next = await claimed();
    expect(JSON.stringify(next.events)).toContain("Wait!");
  });
});
