// Nothing that the server does may take longer because there are many sessions. Everything it does is done once, beside
// many sessions, and each statement that it sent is looked at.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { takeStep } from "@tandem/engine/commands/take-step";
import { renewLease, takeBackSteps } from "@tandem/engine/postgres/leases";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { findSlowParts, isAboutGrowing } from "../support/find-slow-parts.ts";
import { loadManySessions } from "../support/many-sessions.ts";
import { type RecordedStatement, recordStatements } from "../support/recorded-statements.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { useEverything } from "../support/use-everything.ts";
import { createWire } from "../support/wire.ts";

/** Statements that may read all of a table, by a part of their text. */
const EXCEPTIONS = [
  // Folds the counts of all owners: a few rows each.
  "HAVING count(*) >= 32 OR sum(count) = 0",
  // No index finds a text within texts; it looks at the newest sessions, up to a bound.
  "ILIKE",
];

let stack: TestStack;
let client: pg.Client;
let statements: RecordedStatement[];
let requested: string[];

beforeAll(async () => {
  stack = await startStack({
    script: oneToolThenAnswer("get_weather", { city: "Paris" }),
    worker: false,
    env: { TANDEM_MAX_ACTIVE_SESSIONS: "10000", TANDEM_SWEEP_MS: "100" },
  });
  client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await loadManySessions(client, { sessions: 30_000, otherOwners: 10_000 });
  const recording = recordStatements();
  const worker = await stack.addWorker();
  requested = await useEverything(stack, createWire(stack.baseUrl, apiKey))
    .finally(() => useTheRare(stack))
    .finally(recording.stop);
  await worker.close();
  statements = recording.statements.filter(isAboutGrowing);
});
afterAll(async () => {
  await client.end();
  await stack.close();
});

describe("beside many sessions", () => {
  it("everything that the server can do has been done", async () => {
    const document = JSON.parse(
      await readFile(new URL("../../openapi/openapi.json", import.meta.url), "utf8"),
    );
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const isDone = (operation: string) => {
      const pattern = new RegExp(`^${operation.replaceAll(/\{[^}]*\}/g, "[^/?]+(?:/[^/?]+)?")}(\\?|$)`);
      return requested.some((request) => pattern.test(request));
    };
    expect(operations.filter((operation) => !isDone(operation))).toEqual([]);
  });

  it("no statement reads a whole table, passes over many rows, or sorts many", async () => {
    expect(await findAllSlowParts()).toEqual([]);
  });

  it.each([
    "sessions_organization_id_created_at_id_idx",
    "sessions_organization_id_status_created_at_id_idx",
    "sessions_organization_id_agent_name_created_at_id_idx",
    "sessions_group_idx",
    "sessions_parent_idx",
    "sessions_finished_idx",
    "sessions_due_idx",
    "sessions_timers_idx",
    "sessions_active_idx",
    "sessions_delete_idx",
    "sessions_purge_idx",
    "session_tokens_token_hash_key",
    "session_tokens_session_id_idx",
    "session_tokens_expires_at_idx",
    "sessions_share_token_idx",
    "waiting_messages_session_id_id_idx",
    "idempotency_keys_created_at_idx",
  ])("without the index %s one would", async (index) => {
    await client.query("BEGIN");
    await client.query(`DROP INDEX ${index}`);
    const slow = await findAllSlowParts();
    await client.query("ROLLBACK");
    expect(slow).not.toEqual([]);
  });
});

/** What a worker and whoever gives it steps do now and then only. */
async function useTheRare({ engine }: TestStack): Promise<void> {
  const step = { sessionId: randomUUID(), fence: 1 };
  await takeStep(engine, { ...step, news: "" });
  await takeBackSteps(engine.pool, [step]);
  await renewLease(engine.pool, { ...step, leaseMs: 30_000 });
}

async function findAllSlowParts(): Promise<string[]> {
  const slow: string[] = [];
  for (const statement of statements) {
    if (EXCEPTIONS.some((part) => statement.text.includes(part))) continue;
    for (const part of await findSlowParts(client, statement))
      slow.push(`${part}: ${statement.text.replaceAll(/\s+/g, " ")} ${JSON.stringify(statement.values)}`);
  }
  return slow;
}
