// `npm run chaos -- --sessions 200 --seconds 60 --seed 7 --backend both`: proves, with whole processes, that nothing is
// lost and nothing is done twice. Exits with 1 when something is wrong.
import { parseArgs } from "node:util";
import { hasRedis } from "../support/redis.ts";
import type { ChaosReport } from "./report.ts";
import { runChaos } from "./run-chaos.ts";

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "200" },
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    backend: { type: "string", default: "both" },
  },
});

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    console.log(`${signal}: closing`);
    stopping.abort();
    process.exitCode = 130;
  });
}

const sessions = toCount(values.sessions);
const seconds = toCount(values.seconds);
const seed = toCount(values.seed);
console.log(`seed ${seed}`);
for (const backend of chooseBackends(values.backend)) {
  if (stopping.signal.aborted) break;
  const startedAt = performance.now();
  const tell = (line: string) =>
    console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s  ${line}`);
  const options = { sessions, seconds, seed, backend, tell, signal: stopping.signal };
  const report = await runChaos(options);
  // Cut short, it says nothing about what is not done.
  if (!stopping.signal.aborted) print(backend, report);
}

function toCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0) return count;
  console.error(`${text} is no whole number: --sessions, --seconds and --seed each take one`);
  process.exit(1);
}

function chooseBackends(name: string): ("postgres" | "redis")[] {
  if (name === "both") return hasRedis ? ["postgres", "redis"] : ["postgres"];
  if (name === "postgres" || (name === "redis" && hasRedis)) return [name];
  console.error(`--backend is ${name}: postgres, redis (with redis-server on the PATH) or both is right`);
  process.exit(1);
}

function print(backend: string, { counts, faults }: ChaosReport): void {
  console.log(`\n${backend}:`);
  for (const [name, count] of counts) console.log(`${String(count).padStart(8)}  ${name}`);
  for (const fault of faults) console.log(`WRONG  ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
