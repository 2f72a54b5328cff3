import { readFile } from "node:fs/promises";
import { listenForScrapes } from "@tandem/worker/listen-for-scrapes";
import pino from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { readSeries, type Series, scrape, seriesOf } from "../support/scrape.ts";
import { apiKey, backends, type StackOptions, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack | null = null;
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await stack?.close();
  stack = null;
});

/** A stack whose API and worker have an engine each, as processes do. */
async function open(options: StackOptions = {}) {
  stack = await startStack({
    script: oneToolThenAnswer("get_weather", { city: "Paris" }),
    worker: false,
    ...options,
  });
  const worker = await stack.addWorker();
  const ofWorker = async () => readSeries((await worker.engine.telemetry.scrape()).body);
  return { stack, wire: createWire(stack.baseUrl, apiKey), ofWorker };
}

const asking = { agent: { name: "x", tools: [weatherTool] }, messages: "How is the weather in Paris?" };

/** Runs a session with one tool to its end, while a client waits. */
async function runOne(wire: Wire): Promise<string> {
  const id = await wire.create(asking);
  const seen = await wire.until(id, "awaiting_tool_results");
  const poll = wire.get(`/sessions/${id}/changes?from_index=${seen.next_index}&wait_for_seconds=20`);
  const [call] = await wire.pending(id);
  if (!call) throw new Error("No call is pending");
  await wire.post(`/sessions/${id}/tool_results`, resultFor(call, "sunny"));
  await poll;
  await wire.until(id, "completed");
  return id;
}

const pick = (series: Series, name: string) => series.get(name);

describe.each(backends)("the metrics of a session with one tool, on %s,", (backend) => {
  it("count what API and worker did, each what it did itself", async () => {
    const { stack, wire, ofWorker } = await open({ backend });
    await runOne(wire);
    // The worker counts its last step after the write that ended the session.
    const worker = await waitFor(
      async () => {
        const series = await ofWorker();
        return pick(series, 'tandem_steps_total{outcome="answer"}') === 1 && series;
      },
      { what: "the last step to be counted" },
    );
    const api = await scrape(stack.baseUrl);

    expect(pick(api, "tandem_sessions_created_total")).toBe(1);
    expect(pick(worker, "tandem_sessions_created_total")).toBe(0);
    expect(seriesOf(worker, "tandem_sessions_ended_total")).toEqual({
      '{reason="answered",status="completed"}': 1,
    });
    expect(seriesOf(worker, "tandem_steps_total")).toEqual({
      '{outcome="tools"}': 1,
      '{outcome="answer"}': 1,
      '{outcome="again"}': 0,
      '{outcome="fail"}': 0,
      '{outcome="retry"}': 0,
      '{outcome="returned"}': 0,
      '{outcome="unwritten"}': 0,
    });
    expect(seriesOf(worker, "tandem_model_request_duration_seconds_count")).toEqual({
      '{outcome="ok",provider="compatible"}': 2,
    });
    expect(seriesOf(worker, "tandem_model_tokens_total")).toEqual({
      '{kind="input",provider="compatible"}': 20,
      '{kind="output",provider="compatible"}': 10,
      '{kind="reasoning",provider="compatible"}': 0,
    });
    expect(pick(worker, "tandem_step_wait_seconds_count")).toBe(2);
    expect(pick(worker, "tandem_tool_round_trip_seconds_count")).toBe(1);
    // Who settles the last call knows how long the calls were open.
    expect(pick(api, "tandem_tool_wait_seconds_count")).toBe(1);
    expect(pick(worker, "tandem_tool_wait_seconds_count")).toBe(0);
    expect(pick(api, 'tandem_http_long_poll_duration_seconds_count{status="200"}')).toBe(1);
    const http = seriesOf(api, "tandem_http_request_duration_seconds_count");
    expect(http['{method="POST",route="/api/v2/sessions",status="201"}']).toBe(1);
    expect(http['{method="POST",route="/api/v2/sessions/:id/tool_results",status="202"}']).toBe(1);
  });

  it("tell the present state: sessions, waiting clients, queue, pool", async () => {
    const { stack, wire } = await open({ backend });
    const id = await wire.create(asking);
    const seen = await wire.until(id, "awaiting_tool_results");
    const poll = wire.get(`/sessions/${id}/changes?from_index=${seen.next_index}&wait_for_seconds=20`);
    // What the database says is asked for every few seconds at most.
    const api = await waitFor(
      async () => {
        const series = await scrape(stack.baseUrl);
        const isSeen = pick(series, 'tandem_sessions{status="awaiting_tool_results"}') === 1;
        return isSeen && pick(series, "tandem_waiters") === 1 && series;
      },
      { what: "the session to be counted" },
    );
    expect(seriesOf(api, "tandem_sessions")).toEqual({
      '{status="queued"}': 0,
      '{status="pending"}': 0,
      '{status="running"}': 0,
      '{status="paused"}': 0,
      '{status="idle"}': 0,
      '{status="awaiting_tool_results"}': 1,
      '{status="awaiting_approval"}': 0,
    });
    expect(seriesOf(api, "tandem_up")).toEqual({ '{part="database"}': 1, '{part="queue"}': 1 });
    expect(pick(api, "tandem_queue_lag_seconds")).toBe(0);
    expect(Object.keys(seriesOf(api, "tandem_queue_jobs")).sort()).toEqual([
      '{state="active"}',
      '{state="delayed"}',
      '{state="waiting"}',
    ]);
    expect(pick(api, "tandem_pool_connections_max")).toBe(10);
    const connections = Object.values(seriesOf(api, "tandem_pool_connections"));
    expect(connections).toHaveLength(2);
    expect(Math.max(...connections)).toBeGreaterThan(0);
    await wire.send("DELETE", `/sessions/${id}`);
    await poll;
    const after = await scrape(stack.baseUrl);
    expect(seriesOf(after, "tandem_sessions_ended_total")).toEqual({
      '{reason="cancelled",status="interrupted"}': 1,
    });
    expect(pick(after, "tandem_waiters")).toBe(0);
  });
});

describe("/metrics", () => {
  it("tells how long a step has waited that no worker takes", async () => {
    stack = await startStack({ worker: false });
    const { baseUrl } = stack;
    const wire = createWire(baseUrl, apiKey);
    await wire.create(asking);
    await stack.engine.pool.query("UPDATE sessions SET due_at = now() - interval '90 seconds'");
    const lag = await waitFor(async () => pick(await scrape(baseUrl), "tandem_queue_lag_seconds"), {
      what: "a lag",
    });
    expect(lag).toBeGreaterThanOrEqual(90);
    expect(lag).toBeLessThan(150);
  });

  it("counts a session that a message starts again, and each of its ends", async () => {
    const { stack, wire, ofWorker } = await open({ script: () => ({ text: "Done." }) });
    const id = await wire.create(asking);
    await wire.until(id, "completed");
    await wire.post(`/sessions/${id}/messages`, { message: "And again?" });
    await wire.until(id, "completed");
    expect(pick(await scrape(stack.baseUrl), "tandem_sessions_restarted_total")).toBe(1);
    await waitFor(
      async () =>
        pick(await ofWorker(), 'tandem_sessions_ended_total{reason="answered",status="completed"}') === 2,
      { what: "both ends to be counted" },
    );
  });

  it("tells how model requests fail, and that the step is tried again", async () => {
    const { wire, ofWorker } = await open({
      script: (_, index) => (index === 0 ? { status: 500, body: { error: {} } } : { text: "Done." }),
    });
    await wire.until(await wire.create(asking), "completed");
    await waitFor(async () => pick(await ofWorker(), 'tandem_steps_total{outcome="answer"}') === 1, {
      what: "the last step to be counted",
    });
    const worker = await ofWorker();
    expect(seriesOf(worker, "tandem_model_request_duration_seconds_count")).toEqual({
      '{outcome="provider_unavailable",provider="compatible"}': 1,
      '{outcome="ok",provider="compatible"}': 1,
    });
    expect(pick(worker, 'tandem_steps_total{outcome="retry"}')).toBe(1);
  });

  it("tells what a sweep found", async () => {
    stack = await startStack({ worker: false });
    const wire = createWire(stack.baseUrl, apiKey);
    await wire.create(asking);
    // Its job runs into nothing: the step is not due yet. When it is, only the sweep knows.
    await stack.engine.pool.query("UPDATE sessions SET due_at = now() + interval '1 second'");
    const worker = await stack.addWorker();
    await waitFor(
      async () => {
        const series = readSeries((await worker.engine.telemetry.scrape()).body);
        return pick(series, 'tandem_sweep_found_total{what="steps"}') === 1;
      },
      { what: "the sweep to find the step" },
    );
  });

  it("has routes as labels, not paths, ids or names", async () => {
    const { stack, wire } = await open();
    const id = await runOne(wire);
    await wire.get(`/agents/some-secret-name`);
    await wire.send("GET", "//no/such/path");
    await fetch(`${stack.baseUrl}/no-such-path-either`, { method: "PROPFIND" });
    const text = await (await fetch(`${stack.baseUrl}/metrics`)).text();
    for (const word of [id, id.slice(0, 8), "some-secret-name", "such", "Paris", "get_weather", "default"])
      expect(text).not.toContain(word);
    const http = seriesOf(readSeries(text), "tandem_http_request_duration_seconds_count");
    expect(http['{method="any",route="none",status="404"}']).toBe(2);
  });

  it("serves the metrics that the README tells of, and no others of ours", async () => {
    const { stack } = await open();
    const text = await (await fetch(`${stack.baseUrl}/metrics`)).text();
    const served = [...text.matchAll(/^# TYPE tandem_(\w+) /gm)].map(([, name = ""]) => name);
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const [, table = ""] = readme.split("| metric (`tandem_…`)");
    const lines = table.slice(0, table.indexOf("\n\n")).split("\n").slice(2);
    const told = lines.flatMap((line) =>
      [...(line.split("|")[1] ?? "").matchAll(/`(\w+)(?:\{[^}]*\})?`/g)].map(([, name]) => name),
    );
    expect(told.sort()).toEqual(served.sort());
  });

  it("counts refusals of the rate limit", async () => {
    const { stack, wire } = await open({ env: { TANDEM_RATE_LIMIT_PER_MINUTE: "1" } });
    for (let i = 0; i < 3; i++) await wire.get("/agents");
    expect(pick(await scrape(stack.baseUrl), "tandem_http_rate_limited_total")).toBe(2);
  });

  it.each(["cut", "stall"] as const)(
    "answers soon with what needs no database while that is away (%s)",
    async (how) => {
      stack = await startStack({ worker: false, databaseProxy: true });
      const { baseUrl, databaseProxy } = stack;
      await waitFor(async () => pick(await scrape(baseUrl), 'tandem_up{part="database"}') === 1 && true, {
        what: "the database to be seen",
      });
      await databaseProxy?.[how]();
      const away = await waitFor(
        async () => {
          const startedAt = performance.now();
          const series = await scrape(baseUrl);
          expect(performance.now() - startedAt).toBeLessThan(3_000);
          return pick(series, 'tandem_up{part="database"}') === 0 && series;
        },
        { what: "the database to be away" },
      );
      expect(seriesOf(away, "tandem_sessions")).toEqual({});
      expect(seriesOf(away, "tandem_queue_lag_seconds")).toEqual({});
      expect(pick(away, "process_resident_memory_bytes")).toBeGreaterThan(1e6);
      expect(pick(away, "tandem_waiters")).toBe(0);
      if (how === "cut") await databaseProxy?.mend();
      else databaseProxy?.resume();
      await waitFor(async () => pick(await scrape(baseUrl), 'tandem_up{part="database"}') === 1 && true, {
        what: "the database to be back",
        timeoutMs: 20_000,
      });
    },
  );

  it("asks the database once for many scrapes", async () => {
    const { stack } = await open();
    let count = 0;
    const { pool } = stack.engine;
    const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
    Object.assign(pool, {
      query: (...args: unknown[]) => {
        if ((args[0] as { name?: string }).name === "read-load") count++;
        return query(...args);
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => scrape(stack.baseUrl)));
    expect(count).toBe(1);
  });

  it("needs the token when one is set, and no API key", async () => {
    const token = "a-token-for-metrics";
    const { stack } = await open({ env: { TANDEM_METRICS_TOKEN: token } });
    const statusFor = async (authorization?: string) => {
      const response = await fetch(`${stack.baseUrl}/metrics`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      await response.text();
      return [response.status, response.headers.get("www-authenticate")];
    };
    expect(await statusFor(`Bearer ${token}`)).toEqual([200, null]);
    for (const wrong of [undefined, `Bearer ${apiKey}`, `Bearer ${token}x`, `Basic ${token}`, "Bearer"])
      expect(await statusFor(wrong)).toEqual([401, "Bearer"]);
  });
});

describe("a worker's own listener", () => {
  const log = pino({ level: "silent" });

  it("serves its metrics and that it is alive, and nothing else", async () => {
    const { stack } = await open();
    const listener = await listenForScrapes(
      stack.engine.telemetry,
      { metricsAddress: { host: "127.0.0.1", port: 0 } },
      log,
    );
    closers.push(() => listener.close());
    const url = String(listener.url);
    expect(pick(await scrape(url), 'tandem_steps_total{outcome="answer"}')).toBe(0);
    const health = await fetch(`${url}/healthz`);
    expect([health.status, await health.text()]).toEqual([200, "ok\n"]);
    for (const [path, method] of [
      ["/", "GET"],
      ["/api/v2/sessions", "GET"],
      ["/metrics", "POST"],
    ] as const) {
      const response = await fetch(`${url}${path}`, { method });
      await response.text();
      expect([path, response.status]).toEqual([path, 404]);
    }
  });

  it("needs the token when one is set", async () => {
    const { stack } = await open();
    const listener = await listenForScrapes(
      stack.engine.telemetry,
      { metricsAddress: { host: "127.0.0.1", port: 0 }, metricsToken: "a-token-for-metrics" },
      log,
    );
    closers.push(() => listener.close());
    const refused = await fetch(`${listener.url}/metrics`);
    expect([refused.status, await refused.text()]).toEqual([401, "A bearer token is needed.\n"]);
    const headers = { authorization: "Bearer a-token-for-metrics" };
    const taken = await fetch(`${listener.url}/metrics`, { headers });
    expect(readSeries(await taken.text()).size).toBeGreaterThan(20);
  });

  it("is not there without a port", async () => {
    const { stack } = await open();
    const listener = await listenForScrapes(stack.engine.telemetry, {}, log);
    expect(listener.url).toBeNull();
    await listener.close();
  });
});
