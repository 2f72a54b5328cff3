// Metrics and traces of the programs as images run them: an API and a worker, each a process of its own.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { toTraceId } from "@tandem/engine/telemetry/spans";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type FakeCollector, startFakeCollector } from "../support/fake-collector.ts";
import { type FakeModel, oneToolThenAnswer, startFakeModel } from "../support/fake-model-server.ts";
import { repositoryRoot, startProcess, type TestProcess } from "../support/processes.ts";
import { builtPrograms } from "../support/programs.ts";
import { scrape } from "../support/scrape.ts";
import { createWire, resultFor, weatherTool } from "../support/wire.ts";

const key = "telemetry-test-key";
let database: TestDatabase;
let model: FakeModel;
let collector: FakeCollector;
const running: TestProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  model = await startFakeModel(oneToolThenAnswer("get_weather", { city: "Paris" }));
  collector = await startFakeCollector();
});
afterAll(async () => {
  for (const process of running) await process.close();
  await collector.close();
  await model.close();
  await database.drop();
});

function start(entry: string, env: Record<string, string>): TestProcess {
  const process = startProcess({
    entry,
    env: {
      DATABASE_URL: database.url,
      TANDEM_API_KEY: key,
      TANDEM_MODEL: "compatible/fake",
      TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      ...env,
    },
  });
  running.push(process);
  return process;
}

it("a session over two processes is one trace, and each process serves its own metrics", async () => {
  const api = start(builtPrograms.api, { PORT: "0" });
  const [, baseUrl = ""] = await api.waitForLine(/Server listening at (http:[^"]+)"/);
  const worker = start(builtPrograms.worker, { TANDEM_METRICS_PORT: "0" });
  const [, workerUrl = ""] = await worker.waitForLine(/metrics are at (http:.+)\/metrics"/);

  const wire = createWire(baseUrl, key);
  const id = await wire.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  await wire.until(id, "awaiting_tool_results");
  const [call] = await wire.pending(id);
  if (!call) throw new Error("No call is pending");
  await wire.post(`/sessions/${id}/tool_results`, resultFor(call, "sunny"));
  await wire.until(id, "completed");
  expect((await scrape(baseUrl)).get("tandem_sessions_created_total")).toBe(1);
  expect((await scrape(workerUrl)).get('tandem_steps_total{outcome="tools"}')).toBe(1);

  for (const process of [api, worker]) process.kill();
  const exits = await Promise.all([api.exited, worker.exited]);
  expect(exits.map(({ code }) => code)).toEqual([0, 0]);
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([toTraceId(id)]));
  const servicesOf = (name: string) =>
    collector.spans.filter((span) => span.name === name).map(({ service }) => service);
  expect(servicesOf("session")).toEqual(["tandem-worker"]);
  expect(servicesOf("step")).toEqual(["tandem-worker", "tandem-worker"]);
  expect(servicesOf("POST /api/v2/sessions")).toEqual(["tandem-api"]);
  expect(servicesOf("wait for tool results")).toEqual(["tandem-api"]);
  const ids = new Set(collector.spans.map(({ spanId }) => spanId));
  const orphans = collector.spans.filter(
    ({ parentSpanId }) => parentSpanId !== null && !ids.has(parentSpanId),
  );
  expect(orphans).toEqual([]);
});

it("the bundles import OpenTelemetry's SDK when they need it, not at their start", async () => {
  for (const path of [builtPrograms.api, builtPrograms.worker]) {
    const text = await readFile(join(repositoryRoot, path), "utf8");
    expect(text).toContain('import("@opentelemetry/sdk-trace")');
    const atStart = [...text.matchAll(/^import .*"(@opentelemetry\/[^"]+)"/gm)].map(([, name]) => name);
    expect(atStart).toEqual([]);
  }
});
