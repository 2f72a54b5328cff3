// How questions are gathered: what starts when, who shares what, and what a fault costs.
import { setImmediate as nextTurn } from "node:timers/promises";
import { createBatches } from "@tandem/engine/queries/batches";
import { afterEach, expect, it, vi } from "vitest";

interface Fetch {
  items: string[];
  succeed(results?: string[]): void;
  fail(error: Error): void;
}

/** Batches whose fetches end when the test says so. */
function open(options: { maxItems?: number; maxBatches?: number } = {}) {
  const fetches: Fetch[] = [];
  const ask = createBatches<string, string>({
    maxItems: 50,
    maxBatches: 1,
    ...options,
    fetch: (items) =>
      new Promise((resolve, reject) => {
        fetches.push({ items, succeed: (results = items) => resolve(results), fail: reject });
      }),
  });
  return { fetches, ask: (key: string) => ask(key, key) };
}

const at = <T>(list: T[], index: number): T => list.at(index) as T;

afterEach(() => {
  vi.useRealTimers();
});

it("one that is asked for alone is fetched before the event loop turns", async () => {
  const { fetches, ask } = open();
  const asked = ask("a");
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(fetches.map(({ items }) => items)).toEqual([["a"]]);
  at(fetches, 0).succeed(["A"]);
  expect(await asked).toBe("A");
});

it("what is asked for in one turn is one batch, in order, each with its own result", async () => {
  const { fetches, ask } = open();
  const asked = Promise.all(["a", "b", "c"].map(ask));
  await nextTurn();
  expect(fetches.map(({ items }) => items)).toEqual([["a", "b", "c"]]);
  at(fetches, 0).succeed(["A", "B", "C"]);
  expect(await asked).toEqual(["A", "B", "C"]);
});

it("no more batches are under way than may be, and none has more items than it may; the rest gathers", async () => {
  const { fetches, ask } = open({ maxItems: 2, maxBatches: 2 });
  const asked = Promise.all(["a", "b", "c", "d", "e", "f", "g"].map(ask));
  await nextTurn();
  expect(fetches.map(({ items }) => items)).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  at(fetches, 1).succeed();
  await nextTurn();
  expect(fetches.slice(2).map(({ items }) => items)).toEqual([["e", "f"]]);
  at(fetches, 0).succeed();
  await nextTurn();
  expect(fetches.slice(3).map(({ items }) => items)).toEqual([["g"]]);
  for (const { succeed } of fetches.slice(2)) succeed();
  expect(await asked).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
});

it("nobody joins a batch that is under way: a result is never older than its question", async () => {
  for (const maxBatches of [1, 2]) {
    const { fetches, ask } = open({ maxBatches });
    const early = ask("a");
    await nextTurn();
    const late = ask("a");
    await nextTurn();
    at(fetches, 0).succeed(["old"]);
    expect(await early).toBe("old");
    await nextTurn();
    at(fetches, 1).succeed(["new"]);
    expect(await late).toBe("new");
    expect(fetches).toHaveLength(2);
  }
});

it("those who ask by the same key before their batch starts share one item", async () => {
  const { fetches, ask } = open();
  const first = ask("a");
  await nextTurn();
  const shared = Promise.all([ask("b"), ask("c"), ask("b")]);
  at(fetches, 0).succeed();
  await nextTurn();
  expect(at(fetches, 1).items).toEqual(["b", "c"]);
  at(fetches, 1).succeed(["B", "C"]);
  expect(await shared).toEqual(["B", "C", "B"]);
  expect(await first).toBe("a");
});

it("a fetch that fails fails those who are in it, and nobody else", async () => {
  const { fetches, ask } = open({ maxItems: 2 });
  const outcomes = Promise.allSettled(["a", "b", "c"].map(ask));
  await nextTurn();
  at(fetches, 0).fail(new Error("away"));
  await nextTurn();
  at(fetches, 1).succeed(["C"]);
  expect(
    (await outcomes).map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "failed")),
  ).toEqual(["failed", "failed", "C"]);
});

it("what waits five seconds for its batch is refused for now, and what came later is not", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const { fetches, ask } = open();
  const stuck = ask("a");
  await nextTurn();
  const waiting = [ask("b"), ask("c")].map((asked) => asked.catch((error: unknown) => error));
  await vi.advanceTimersByTimeAsync(3_000);
  const later = ask("d");
  await vi.advanceTimersByTimeAsync(2_000);
  for (const refused of await Promise.all(waiting)) expect(refused).toMatchObject({ code: "unavailable" });
  at(fetches, 0).succeed();
  await nextTurn();
  at(fetches, 1).succeed();
  expect([await stuck, await later]).toEqual(["a", "d"]);
  expect(at(fetches, 1).items).toEqual(["d"]);
});

it("a crowd that shares a result goes on over several turns, so that others have theirs between", async () => {
  const { fetches, ask } = open();
  let answered = 0;
  const crowd = Array.from({ length: 1_000 }, () => ask("a").then(() => answered++));
  await nextTurn();
  at(fetches, 0).succeed();
  const perTurn: number[] = [];
  for (let before = 0; answered < 1_000; before = answered) {
    await nextTurn();
    perTurn.push(answered - before);
  }
  await Promise.all(crowd);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(200);
});
