import { describe, expect, it } from "vitest";
import { ArgumentError, isWanted, parseBenchArguments } from "../bench/arguments.ts";
import { GROUPS } from "../bench/catalogue.ts";
import { toFigure, toSingleFigure } from "../bench/figure.ts";
import { readPlan, toMessage } from "../bench/plan.ts";
import { playWindow } from "../bench/play-window.ts";
import { createSamples, medianOf } from "../bench/samples.ts";
import { parseSoakArguments } from "../bench/soak/arguments.ts";
import type { Sample } from "../bench/soak/sample.ts";
import { pickKind, SESSION_KINDS } from "../bench/soak/session-kinds.ts";
import { judge } from "../bench/soak/verdict.ts";
import { toTable } from "../bench/table.ts";

function samplesOf(values: readonly number[], parts?: number) {
  const samples = createSamples(parts);
  values.forEach(samples.add);
  return samples;
}

describe("samples", () => {
  it("give percentiles to three significant digits", () => {
    const samples = samplesOf(Array.from({ length: 1_000 }, (_, i) => (i + 1) / 10));
    expect(samples.count).toBe(1_000);
    for (const [percentile, value] of [
      [50, 50],
      [95, 95],
      [99, 99],
    ] as const)
      expect(Math.abs(samples.percentile(percentile) / value - 1)).toBeLessThan(0.002);
  });

  it("tell small values apart when they have finer parts", () => {
    expect(medianOf(samplesOf([0.00123], 1_000_000))).toBeCloseTo(0.00123, 6);
  });

  it("count what clocks made negative as nothing", () => {
    expect(medianOf(samplesOf([-0.3]))).toBe(0);
  });

  it("refuse what is no number, and to tell of nothing", () => {
    expect(() => samplesOf([Number.NaN])).toThrow("NaN is no measured value");
    expect(() => medianOf(createSamples())).toThrow("Nothing was measured");
  });
});

describe("a figure", () => {
  it("divides its median by its floor", () => {
    const figure = toFigure({ name: "x", unit: "ms", samples: samplesOf([1, 3, 3, 3, 9]), floor: 2 });
    expect(figure).toMatchObject({ name: "x", unit: "ms", floor: 2 });
    expect(figure.p50).toBeCloseTo(3, 2);
    expect(figure.ratio).toBeCloseTo(1.5, 2);
    expect(figure.p99).toBeCloseTo(9, 1);
  });

  it("has no ratio where it has no floor, or one of nothing", () => {
    expect(toFigure({ name: "x", unit: "ms", samples: samplesOf([1]) })).toMatchObject({
      floor: null,
      ratio: null,
    });
    expect(toSingleFigure({ name: "x", unit: "ms", value: 1, floor: 0 }).ratio).toBeNull();
  });

  it("is a line of the table", () => {
    const figure = toSingleFigure({ name: "wake_up_1", unit: "ms", value: 3, floor: 1.5 });
    expect(toTable([figure]).split("\n")).toEqual([
      "figure     unit  p50  p95  p99  floor  ratio",
      "wake_up_1  ms      3    3    3    1.5   2.00",
    ]);
  });
});

describe("the bench's command line", () => {
  const names = ["round_trip_postgres", "round_trip_redis", "wake_up_1"];

  it("wants everything by default", () => {
    const options = parseBenchArguments([], names);
    expect(options).toEqual({ json: false, quick: false, only: [], rounds: 4 });
    expect(isWanted("wake_up_1", options.only)).toBe(true);
  });

  it("takes beginnings of names", () => {
    const { only, json } = parseBenchArguments(["--json", "--only", "round_trip,wake_up_1"], names);
    expect(json).toBe(true);
    expect(names.filter((name) => isWanted(name, only))).toEqual(names);
    expect(isWanted("payload_1k", only)).toBe(false);
  });

  it("takes a whole name for that figure alone", () => {
    const { only } = parseBenchArguments(["--only", "wake_up_1"], [...names, "wake_up_1000"]);
    expect(only).toEqual(["wake_up_1"]);
  });

  it.each([
    [["--only", "round_tripp"], 'There is no figure "round_tripp"'],
    [["--only", "wake_up_1,"], 'There is no figure ""'],
    [["--rounds", "0"], '--rounds is "0"'],
    [["--rounds", "2.5"], '--rounds is "2.5"'],
    [["--faster"], "Unknown option '--faster'"],
    [["wake_up_1"], "Unexpected argument 'wake_up_1'"],
  ])("refuses %j", (args, message) => {
    expect(() => parseBenchArguments(args, names)).toThrow(ArgumentError);
    expect(() => parseBenchArguments(args, names)).toThrow(message);
  });

  it("knows each figure by one name", () => {
    const all = GROUPS.flatMap((group) => group.names);
    expect(all).toEqual([...new Set(all)]);
  });
});

describe("the soak's command line", () => {
  it("soaks Postgres for three minutes by default", () => {
    expect(parseSoakArguments([])).toEqual({ json: false, backend: "postgres", seconds: 180 });
  });

  it.each([[["--backend", "mysql"]], [["--seconds", "5"]], [["--seconds", "soon"]], [["--loud"]]])(
    "refuses %j",
    (args) => {
      expect(() => parseSoakArguments(args)).toThrow(ArgumentError);
    },
  );
});

describe("a plan", () => {
  it("is told to the model in the first message", () => {
    const plan = { key: "trip.1", steps: 20, calls: 3 };
    expect(readPlan(toMessage(plan))).toEqual(plan);
    expect(() => readPlan("Hello.")).toThrow("A message without a plan");
  });
});

describe("a window of load", () => {
  it("counts what ends within it, and lets the rest end", async () => {
    let underWay = 0;
    let most = 0;
    const edges: string[] = [];
    const { latenciesMs, played } = await playWindow({
      ...{ concurrency: 3, warmUpMs: 1, windowMs: 1, minSessions: 6 },
      async play() {
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setTimeout(resolve, 2));
        underWay--;
      },
      onEdge: async (edge) => void edges.push(edge),
    });
    expect(edges).toEqual(["open", "close"]);
    expect(latenciesMs.length).toBeGreaterThanOrEqual(6);
    expect(played).toBeGreaterThan(latenciesMs.length);
    expect({ underWay, most }).toEqual({ underWay: 0, most: 3 });
  });

  it("ends with the first session that fails", async () => {
    const window = playWindow({
      ...{ concurrency: 2, warmUpMs: 60_000, windowMs: 60_000, minSessions: 1 },
      play: async (number) => {
        if (number === 1) throw new Error("It is failed");
        await new Promise((resolve) => setTimeout(resolve, 1));
      },
    });
    await expect(window).rejects.toThrow("It is failed");
  });
});

describe("a soak", () => {
  const flat: Sample = {
    ...{ at: 0, api_rss: 200, worker_rss: 100, api_heap: 40, worker_heap: 30, api_handles: 250 },
    ...{ worker_handles: 40, connections: 30, jobs: 3, under_way: 5, ended: 0 },
  };
  const take = (change: (number: number) => Partial<Sample>) =>
    Array.from({ length: 40 }, (_, number) => ({ ...flat, ...change(number) }));
  const faultsOf = (samples: readonly Sample[]) =>
    judge(samples).flatMap(({ name, ok }) => (ok ? [] : [name]));

  it("finds nothing wrong with what is flat after its warm-up", () => {
    expect(faultsOf(take((number) => (number < 8 ? { api_heap: 20 } : {})))).toEqual([]);
  });

  it("finds what grows", () => {
    expect(faultsOf(take((number) => ({ api_heap: 40 + number / 2, jobs: 2 * number })))).toEqual([
      "api_heap",
      "jobs",
    ]);
    expect(faultsOf(take((number) => ({ worker_handles: 40 + 2 * number })))).toEqual(["worker_handles"]);
  });

  it("plays every kind of session in its share", () => {
    const kinds = Array.from({ length: 20 }, (_, number) => pickKind(number).name);
    const counts = Object.fromEntries(
      Object.keys(SESSION_KINDS).map((name) => [name, kinds.filter((kind) => kind === name).length]),
    );
    const shares = Object.fromEntries(
      Object.entries(SESSION_KINDS).map(([name, { share }]) => [name, share]),
    );
    expect(counts).toEqual(shares);
  });
});
