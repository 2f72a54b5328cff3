// What breaks while a process starts is no worse than what breaks later.
import pg from "pg";
import { expect, it } from "vitest";
import { apiKey, startStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire } from "../support/wire.ts";

it("a worker whose queue connections break as they open takes steps from the queue all the same", async () => {
  // Neither the sweep nor a direct offer is to help.
  const stack = await startStack({ worker: false, env: { TANDEM_SWEEP_MS: "60000" } });
  const wire = createWire(stack.baseUrl, apiKey);
  const sessionId = await wire.create({ agent: { name: "x" }, messages: "Hi" });
  await waitFor(async () => (await stack.engine.queue.count()).waiting === 1, { what: "the queued step" });

  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query("BEGIN; LOCK TABLE bullmq.migration IN ACCESS EXCLUSIVE MODE");
  const opening = `FROM pg_stat_activity WHERE application_name = 'tandem-queue' AND datname = current_database()
    AND wait_event_type = 'Lock'`;
  await stack.addWorker();
  await waitFor(async () => (await stack.engine.pool.query(`SELECT ${opening}`)).rowCount === 2, {
    what: "the new worker's queue and consumer to open their connections",
  });
  await stack.engine.pool.query(`SELECT pg_terminate_backend(pid) ${opening}`);
  await client.query("COMMIT");
  await client.end();

  await wire.until(sessionId, "completed");
  expect(stack.model.requests).toHaveLength(1);
  await stack.close();
});
