// What came of a chaos run.
import pg from "pg";
import { checkHistories, checkSession, type Fault } from "../support/invariants.ts";
import type { Plan } from "../support/planned-sessions.ts";
import type { Stage } from "./open-stage.ts";

export interface ChaosReport {
  /** By name, in the order to print them. */
  counts: Map<string, number>;
  /** Everything that should not be, in words; empty when all is well. */
  faults: string[];
}

export async function report(run: {
  stage: Stage;
  plans: readonly Plan[];
  disturbances: ReadonlyMap<string, number>;
}): Promise<ChaosReport> {
  const { stage, plans, disturbances } = run;
  const db = new pg.Client({ connectionString: stage.postgres.url });
  await db.connect();
  const faults = [...checkHistories(stage.model.requests)];
  try {
    const ids = findIds(stage.lines);
    for (const plan of plans)
      faults.push(
        ...(await checkSession(db, { id: ids.get(plan.number) ?? NO_ID, plan, ledger: stage.ledger })),
      );
    const states = await countStates(db);
    const crashes = [...stage.apis, ...stage.workers, ...stage.clients].flatMap((process) => process.crashes);
    const refusals = stage.lines.filter((line) => line.startsWith("fault "));
    if (states.sessions !== plans.length)
      faults.push({ kind: "duplicate", text: `${states.sessions} sessions in place of ${plans.length}` });
    const counts = new Map<string, number>([
      ...Object.entries(states),
      ["lost", countKind(faults, "lost")],
      ["duplicated effects", countKind(faults, "duplicate")],
      ["gaps", countKind(faults, "gap")],
      ["wrong results and answers", countKind(faults, "wrong")],
      ["invalid histories", countKind(faults, "history")],
      ["refusals that no retry cured", refusals.length],
      ["crashes of our own making", crashes.length],
      ...disturbances,
      ["kills between a tool and its post", stage.deathsAfterTool],
      ["model requests", stage.model.requests.length],
      ["runs of tools", stage.ledger.runs],
      ["repeated posts", countLines(stage.lines, /^receipt (duplicate|session_finished)/)],
      ["decisions on calls", countLines(stage.lines, /^receipt approval accepted/)],
      ["repeated decisions", countLines(stage.lines, /^receipt approval duplicate/)],
      ["decisions that came second", countLines(stage.lines, /^receipt approval approval_conflict/)],
      ["5xx cured by a retry", countLines(stage.lines, /^retry 5/)],
      ["broken connections cured by a retry", countLines(stage.lines, /^retry connection/)],
    ]);
    return {
      counts,
      faults: [...faults.map(({ kind, text }) => `${kind}: ${text}`), ...refusals, ...crashes],
    };
  } finally {
    await db.end();
  }
}

/** Of a session that no client could create. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

function findIds(lines: readonly string[]): Map<number, string> {
  const matches = lines.map((line) => line.match(/^created (\d+) (\S+)/)).filter((match) => match !== null);
  return new Map(matches.map(([, number, id = ""]) => [Number(number), id]));
}

async function countStates(
  db: pg.Client,
): Promise<{ sessions: number; terminal: number; completed: number }> {
  const { rows } = await db.query<{ sessions: number; terminal: number; completed: number }>(
    `SELECT count(*)::int AS sessions, count(finished_at)::int AS terminal,
            count(*) FILTER (WHERE status = 'completed')::int AS completed FROM sessions`,
  );
  return rows[0] ?? { sessions: 0, terminal: 0, completed: 0 };
}

const countKind = (faults: readonly Fault[], kind: Fault["kind"]) =>
  faults.filter((fault) => fault.kind === kind).length;

const countLines = (lines: readonly string[], pattern: RegExp) =>
  lines.filter((line) => pattern.test(line)).length;
