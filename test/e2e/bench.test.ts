import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { startProcess } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";

const startBench = (...args: string[]) => startProcess({ entry: "test/bench/main.ts", args });

it("the bench gives one JSON object on standard output, and its progress on the other", async () => {
  const bench = startBench("--json", "--quick", "--rounds", "1", "--only", "changes_end");
  const { code } = await bench.exited;
  expect(bench.stderr.join("\n")).toMatch(/ s {2}changes_end: /);
  expect(code).toBe(0);
  expect(bench.stdout).toHaveLength(1);
  const { machine, figures } = JSON.parse(bench.stdout[0] ?? "");
  expect(machine).toMatchObject({ cpus: expect.any(Number), node: process.versions.node });
  const numbers = { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) };
  const form = { unit: "ms", ...numbers, floor: expect.any(Number), ratio: expect.any(Number) };
  // All names that begin so.
  const names = ["changes_end_10", "changes_end_1000", "changes_end_100000"];
  expect(figures).toEqual(names.map((name) => ({ name, ...form })));
});

it("the bench refuses a figure that there is not", async () => {
  const bench = startBench("--only", "speed");
  expect((await bench.exited).code).toBe(1);
  expect(bench.stderr[0]).toMatch(/^There is no figure "speed"/);
});

it.runIf(existsSync("/proc/self/stat"))("an interrupted bench leaves no process behind", async () => {
  const bench = startBench("--quick", "--only", "round_trip_postgres");
  // Postgres with its keeper, the model, an API and a worker at least.
  const children = await waitFor(
    async () => {
      const pids = await listDescendants(bench.pid);
      return pids.length >= 6 && pids;
    },
    { what: "the processes of the bench", timeoutMs: 60_000 },
  );
  bench.kill("SIGINT");
  expect((await bench.exited).code).toBe(130);
  const areGone = () => children.every((pid) => !existsSync(`/proc/${pid}`));
  await waitFor(areGone, { what: "all processes of the bench to be gone" });
});

async function listDescendants(root: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
    if (stat !== null) parents.set(pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const isDescendant = (pid: number | undefined): boolean =>
    pid !== undefined && (parents.get(pid) === root || isDescendant(parents.get(pid)));
  return pids.filter(isDescendant);
}
