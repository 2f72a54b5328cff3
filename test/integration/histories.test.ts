// Whatever calls a model makes, and however their results come back: each call has one result, the session goes on once,
// and the next request is one that a provider takes.
import { claimStep } from "@tandem/engine/commands/claim-step";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import type { Principal } from "@tandem/engine/domain/api-keys";
import { TandemError } from "@tandem/engine/domain/errors";
import type { Receipt } from "@tandem/engine/domain/tool-results";
import type { ToolRequest } from "@tandem/engine/domain/tools";
import { readOpenCalls, toToolRequest } from "@tandem/engine/postgres/tool-calls";
import { buildPrompt } from "@tandem/worker/agent/build-prompt";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BareEngine, createBareSession, finishWith, startBareEngine } from "../support/bare-engine.ts";
import { findPromptFaults, findSessionFaults } from "../support/session-invariants.ts";

const RUNS = Number(process.env.TANDEM_TEST_RUNS ?? 30);

/** One entry of a body: which call, by its place, and what was found. */
interface Entry {
  call: number;
  value: string;
}

/** One turn of the model and who posts what for it: for each poster, its bodies in order. */
interface Round {
  calls: { tool: string; args: { n: number } }[];
  posters: Entry[][][];
}

const toRound = (count: number): fc.Arbitrary<Round> => {
  const places = Array.from({ length: count }, (_, place) => place);
  const call = fc.record({ tool: fc.constantFrom("look", "find"), args: fc.record({ n: fc.nat(1) }) });
  const entry = fc.record({ call: fc.nat(count - 1), value: fc.constantFrom("sun", "rain") });
  const repeats = fc.array(entry, { maxLength: 3 });
  const order = fc.shuffledSubarray(places, { minLength: count });
  return fc
    .record({
      calls: fc.array(call, { minLength: count, maxLength: count }),
      order,
      repeats,
      posters: fc.integer({ min: 1, max: 3 }),
      seeds: fc.array(fc.nat(), { minLength: count + 3, maxLength: count + 3 }),
    })
    .map(({ calls, order, repeats, posters, seeds }) => {
      const entries = [...order.map((call) => ({ call, value: "sun" })), ...repeats];
      return { calls, posters: deal(entries, posters, seeds) };
    });
};

/** Gives each entry to a poster, who puts it in a body of its own or in the one before. */
function deal(entries: Entry[], posters: number, seeds: number[]): Entry[][][] {
  const bodies: Entry[][][] = Array.from({ length: posters }, () => []);
  entries.forEach((entry, index) => {
    const seed = seeds[index] ?? 0;
    const own = bodies[seed % posters] ?? [];
    const last = own.at(-1);
    if (last && seed % 2 === 0) last.push(entry);
    else own.push([entry]);
  });
  return bodies;
}

const rounds = fc.array(fc.integer({ min: 1, max: 6 }).chain(toRound), { minLength: 1, maxLength: 3 });

describe("a history of calls and results", () => {
  let bare: BareEngine;
  let principal: Principal;
  beforeAll(async () => {
    bare = await startBareEngine();
    principal = await bare.addOrganization("default");
  });
  afterAll(() => bare.close());

  const claim = (sessionId: string) =>
    claimStep(bare.engine, { sessionId, leaseMs: 600_000, worker: "test" });

  /** Posts one body; a body that is refused as a whole has its receipts in the error. */
  const post = async (sessionId: string, calls: ToolRequest[], body: Entry[]) => {
    const entries = body.map(({ call, value }) => ({
      ...{ kind: "tool_result" as const, tool_req: calls[call] as ToolRequest, result: value },
      ...{ truncated: false, output_artifact_path: null },
    }));
    const { organizationId } = principal;
    try {
      return await submitToolResults(bare.engine, {
        organizationId,
        sessionId,
        entries,
        userName: "tester",
        locOf: () => [],
      });
    } catch (error) {
      if (!(error instanceof TandemError) || error.code !== "result_conflict") throw error;
      return { receipts: error.extra.receipts as unknown as Receipt[], resumed: false };
    }
  };

  const playRound = async (sessionId: string, { calls: said, posters }: Round) => {
    const step = await claim(sessionId);
    if (!step) throw new Error("The step is not due.");
    await finishWith(bare.engine, step, { calls: said, text: "Let me see." });
    const calls = (await readOpenCalls(bare.engine.pool as never, sessionId)).map(toToolRequest);
    const accepted = new Map<string, string>();
    let resumes = 0;
    const postAll = async (bodies: Entry[][]) => {
      for (const body of bodies) {
        const { receipts, resumed } = await post(sessionId, calls, body);
        if (resumed) resumes++;
        receipts.forEach(({ id, status }, index) => {
          if (status !== "accepted") return;
          expect(accepted.has(id ?? "")).toBe(false);
          accepted.set(id ?? "", body[index]?.value ?? "");
        });
      }
    };
    await Promise.all(posters.map(postAll));
    expect(resumes).toBe(1);
    return calls.map(({ id }) => accepted.get(id));
  };

  it(
    "has one result for each call, goes on once, and makes a valid prompt, whoever posts what and when",
    async () => {
      await fc.assert(
        fc.asyncProperty(rounds, async (played) => {
          const sessionId = await createBareSession(bare.engine, principal);
          const results: (string | undefined)[] = [];
          for (const round of played) {
            results.push(...(await playRound(sessionId, round)));
            expect(await findSessionFaults(bare.engine.pool, sessionId)).toEqual([]);
          }
          const claims = await Promise.all([claim(sessionId), claim(sessionId), claim(sessionId)]);
          const [step, ...others] = claims.filter((entry) => entry !== null);
          expect(others).toEqual([]);
          if (!step) throw new Error("The session does not go on.");
          const prompt = buildPrompt({
            agent: step.session.agent,
            events: step.events ?? [],
            lastStep: null,
          });
          expect(findPromptFaults(prompt)).toEqual([]);
          const seen = prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
          expect(seen).toMatchObject(results.map((value) => ({ output: { type: "text", value } })));
          expect(step.session.steps).toBe(played.length);
        }),
        { numRuns: RUNS },
      );
    },
    RUNS * 2_000 + 60_000,
  );
});
