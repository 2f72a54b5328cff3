// The death of a process at a named point of its work: the engine's own parts, with a SIGKILL in between.
import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "@tandem/engine/engine";

/** Where a process dies, in the words of the design. */
export type CrashPoint =
  /** A change that makes a step due is committed; its job is not in the queue, and no worker was given it. */
  | "before queueing"
  /** A step is claimed and committed, by its worker or for it; its model has not been asked. */
  | "after the claim"
  /** The model has answered; nothing of it is written. */
  | "after the reply"
  /** The effects of a step are sent, and not known to be committed. */
  | "before the commit"
  /** A tool has run; its result is not posted. */
  | "before posting";

/** Reads CRASH_AT, CRASH_PASS (at which pass of the point, from 1) and CRASH_DELAY_MS (how long after). */
function readCrash(env: NodeJS.ProcessEnv) {
  return { at: env.CRASH_AT, pass: Number(env.CRASH_PASS ?? 1), delayMs: Number(env.CRASH_DELAY_MS ?? 0) };
}

const crash = readCrash(process.env);
let passes = 0;

/** Passes a point, or dies there: then it never returns. Whatever else the process does goes on until it is dead. */
export async function pass(point: CrashPoint): Promise<void> {
  if (point !== crash.at || ++passes < crash.pass) return;
  await delay(crash.delayMs);
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => undefined);
}

/** Puts the points that are in an engine's way into it. */
export function crashInside(engine: Engine): Engine {
  const { queue, pool } = engine;
  const add = queue.add.bind(queue);
  queue.add = async (step, options) => {
    // What a sweep puts back was due before.
    if (step.putBack === undefined) await pass("before queueing");
    return add(step, options);
  };
  const reserve = queue.reserve.bind(queue);
  queue.reserve = (options) => {
    const place = reserve(options);
    if (!place) return null;
    return {
      ...place,
      give: (assignment, worker) => void pass("before queueing").then(() => place.give(assignment, worker)),
    };
  };
  const consume = queue.consume.bind(queue);
  queue.consume = (run, worker) =>
    consume(async (job) => {
      if (job.news !== undefined) await pass("after the claim");
      await run(job);
    }, worker);
  const query = pool.query.bind(pool) as Query;
  pool.query = (async (...args) => {
    const { text, values } = toStatement(args);
    const isStep = text.startsWith("WITH target") && holdsStep(values);
    if (isStep) await pass("after the reply");
    const answer = query(...args);
    if (isStep) await pass("before the commit");
    const result = await answer;
    if (isClaim(text) && hasClaimed(result)) await pass("after the claim");
    return result;
  }) satisfies Query as never;
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  pool.connect = ((callback?: (...args: unknown[]) => void) =>
    callback
      ? pool.constructor.prototype.connect.call(pool, callback)
      : connect().then(crashInTransaction)) as never;
  return engine;
}

type Query = (...args: unknown[]) => Promise<unknown>;
type PoolClient = { query: Query; release: (broken?: boolean) => void };

function toStatement([statement, values]: unknown[]): { text: string; values: unknown } {
  return typeof statement === "string" ? { text: statement, values } : (statement as never);
}

const isClaim = (text: string) => text.includes("claims = claims + 1");

const holdsStep = (values: unknown) => JSON.stringify(values ?? null).includes("policy_event");

/** A claim that looks first says so in its only row; others have a row when they have claimed. */
function hasClaimed(result: unknown): boolean {
  const [row] = (result as { rows: { claimedVersion?: string | null }[] }).rows;
  return row !== undefined && row.claimedVersion !== null;
}

function crashInTransaction(client: PoolClient): PoolClient {
  const query = client.query.bind(client);
  let hasClaim = false;
  let isStep = false;
  return Object.assign(Object.create(client), {
    query: (async (...args) => {
      const { text, values } = toStatement(args);
      hasClaim ||= isClaim(text);
      isStep ||= holdsStep(values);
      if (text === "COMMIT" && isStep) await pass("before the commit");
      const result = await query(...args);
      if (text === "COMMIT" && hasClaim) await pass("after the claim");
      return result;
    }) satisfies Query,
    release: client.release.bind(client),
  });
}
