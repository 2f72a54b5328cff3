import { toRootSpanId, toTraceId } from "@tandem/engine/telemetry/spans";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CollectedSpan, type FakeCollector, startFakeCollector } from "../support/fake-collector.ts";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { startProcess } from "../support/processes.ts";
import { apiKey, backends, type StackOptions, startStack, type TestStack } from "../support/stack.ts";
import { createWire, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let collector: FakeCollector;
let stack: TestStack | null = null;

beforeEach(async () => {
  collector = await startFakeCollector();
});
afterEach(async () => {
  await stack?.close();
  stack = null;
  await collector.close();
});

async function open(options: StackOptions = {}): Promise<{ stack: TestStack; wire: Wire }> {
  const { env, ...rest } = options;
  stack = await startStack({
    script: oneToolThenAnswer("get_weather", { city: "Secretville" }),
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...env },
    ...rest,
  });
  return { stack, wire: createWire(stack.baseUrl, apiKey) };
}

/** Closes the stack, which sends the last spans, and gives those of one session. */
async function closeAndCollect(sessionId: string): Promise<CollectedSpan[]> {
  await stack?.close();
  stack = null;
  return collector.spans.filter(({ traceId }) => traceId === toTraceId(sessionId));
}

const asking = { agent: { name: "x", tools: [weatherTool] }, messages: "Is it nice in Secretville?" };

async function runOne(wire: Wire, headers: Record<string, string> = {}): Promise<string> {
  const created = await wire.send("POST", "/sessions", { body: asking, headers });
  const id: string = created.body.id;
  await wire.until(id, "awaiting_tool_results");
  const [call] = await wire.pending(id);
  if (!call) throw new Error("No call is pending");
  await wire.post(`/sessions/${id}/tool_results`, resultFor(call, "sunny, with a secret"));
  await wire.until(id, "completed");
  return id;
}

const root = (spans: CollectedSpan[]) => spans.filter(({ parentSpanId }) => parentSpanId === null);
const named = (spans: CollectedSpan[], name: string) => spans.filter((span) => span.name === name);

describe.each(backends)("a session's trace, on %s,", (backend) => {
  it("is one, with the session's id, over API, queue and worker, and its parts hang together", async () => {
    const { wire } = await open({ backend });
    const id = await runOne(wire);
    const spans = await closeAndCollect(id);
    expect(collector.spans).toEqual(spans);
    const shape = spans.map(({ name, parentSpanId }) => {
      const parent = spans.find(({ spanId }) => spanId === parentSpanId);
      return `${parent?.name ?? parentSpanId} > ${name}`;
    });
    expect(shape.sort()).toEqual(
      [
        "null > session",
        "session > POST /api/v2/sessions",
        "session > POST /api/v2/sessions/:id/tool_results",
        "session > wait for tool results",
        ...["session > wait for a worker", "session > step"].flatMap((line) => [line, line]),
        ...["claim", "chat fake", "write"].flatMap((part) => [`step > ${part}`, `step > ${part}`]),
      ].sort(),
    );
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  it("has the times in order, each part within what it is a part of", async () => {
    const { wire } = await open({ backend });
    const before = Date.now();
    const id = await runOne(wire);
    const spans = await closeAndCollect(id);
    // Of different clocks, or of moments that are told a little later than they were.
    const slackMs = 1_000;
    for (const { name, startMs, endMs } of spans) {
      expect(endMs, name).toBeGreaterThanOrEqual(startMs);
      expect(startMs, name).toBeGreaterThanOrEqual(before - slackMs);
      expect(endMs, name).toBeLessThanOrEqual(Date.now() + slackMs);
    }
    // The parts of a step are of one clock; what is left are digits of a nanosecond.
    const roundingMs = 0.01;
    for (const step of named(spans, "step")) {
      const parts = spans.filter(({ parentSpanId }) => parentSpanId === step.spanId);
      const ordered = parts.sort((a, b) => a.startMs - b.startMs);
      expect(ordered.map(({ name }) => name)).toEqual(["claim", "chat fake", "write"]);
      const edges = [step.startMs, ...ordered.flatMap(({ startMs, endMs }) => [startMs, endMs]), step.endMs];
      for (const [i, edge] of edges.slice(1).entries())
        expect(edge).toBeGreaterThanOrEqual(Number(edges[i]) - roundingMs);
    }
  });
});

describe("spans", () => {
  it("say what the model used, how requests were answered, and why the session ended", async () => {
    const { wire } = await open();
    const id = await runOne(wire);
    const spans = await closeAndCollect(id);
    expect(root(spans)[0]).toMatchObject({
      spanId: toRootSpanId(id),
      isError: false,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": id,
        "tandem.session.status": "completed",
        "tandem.session.reason": "answered",
      },
    });
    expect(named(spans, "chat fake")[0]).toMatchObject({
      kind: 3,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "compatible",
        "gen_ai.request.model": "fake",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
      },
    });
    expect(named(spans, "POST /api/v2/sessions/:id/tool_results")[0]).toMatchObject({
      kind: 2,
      attributes: { "http.request.method": "POST", "http.response.status_code": 202 },
    });
    const outcomes = named(spans, "step").map(({ attributes }) => attributes["tandem.step.outcome"]);
    expect(outcomes.sort()).toEqual(["answer", "tools"]);
  });

  it("hold nothing of messages, arguments, results and answers", async () => {
    const { wire } = await open();
    await closeAndCollect(await runOne(wire));
    expect(collector.bodies.join("")).toContain("gen_ai.usage.input_tokens");
    for (const word of ["Secretville", "sunny", "nice", "get_weather", "city"])
      expect(collector.bodies.join("")).not.toContain(word);
  });

  it("link to the trace that a client says it is in", async () => {
    const { wire } = await open();
    const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    const id = await runOne(wire, { traceparent: `00-${traceId}-${spanId}-01` });
    const spans = await closeAndCollect(id);
    expect(named(spans, "POST /api/v2/sessions")[0]?.links).toEqual([{ traceId, spanId }]);
    expect(spans.filter(({ links }) => links.length > 0)).toHaveLength(1);
  });

  it("tell of a failed model request, and of a session that fails", async () => {
    const { wire } = await open({ script: () => ({ status: 401, body: { error: { message: "no" } } }) });
    const id = await wire.create(asking);
    await wire.until(id, "failed");
    const spans = await closeAndCollect(id);
    expect(root(spans)[0]).toMatchObject({ isError: true });
    expect(named(spans, "chat fake")[0]).toMatchObject({
      isError: true,
      attributes: { "error.type": "provider_refused" },
    });
  });

  it("keep one root when a message starts the session again", async () => {
    const { wire } = await open({ script: () => ({ text: "Done." }) });
    const id = await wire.create(asking);
    await wire.until(id, "completed");
    await wire.post(`/sessions/${id}/messages`, { message: "And again?" });
    await wire.until(id, "completed");
    const spans = await closeAndCollect(id);
    expect(root(spans).map(({ name }) => name)).toEqual(["session"]);
    expect(named(spans, "step")).toHaveLength(2);
    expect(named(spans, "end of a later run")).toHaveLength(1);
  });

  it("tell of a wait for a message, and of a pause", async () => {
    const { wire } = await open({ script: () => ({ text: "Done." }) });
    const id = await wire.create({ ...asking, idle_timeout_s: 600 });
    await wire.until(id, "idle");
    await wire.post(`/sessions/${id}/pause`, undefined);
    await wire.post(`/sessions/${id}/resume`, undefined);
    await wire.send("DELETE", `/sessions/${id}`);
    const spans = await closeAndCollect(id);
    expect(named(spans, "wait for a message")).toHaveLength(2);
    expect(named(spans, "paused")).toHaveLength(1);
    expect(named(spans, "DELETE /api/v2/sessions/:id")).toHaveLength(1);
  });

  it("are not made of polls, nor of requests to a session of others", async () => {
    const { stack, wire } = await open();
    const id = await wire.create(asking);
    await wire.until(id, "awaiting_tool_results");
    await wire.get(`/sessions/${id}/changes?from_index=0&wait_for_seconds=1`);
    const foreign = createWire(stack.baseUrl, await stack.addOrganization("acme"));
    expect((await foreign.post(`/sessions/${id}/messages`, { message: "Hi" })).status).toBe(404);
    expect((await foreign.post(`/sessions/${id}/messages`, { message: 1 })).status).toBe(422);
    const names = (await closeAndCollect(id)).map(({ name }) => name);
    expect(names.filter((name) => /^[A-Z]+ /.test(name))).toEqual(["POST /api/v2/sessions"]);
  });

  it("go with the headers and the name of the settings", async () => {
    const { wire } = await open({
      env: {
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key,x-other=b",
        OTEL_SERVICE_NAME: "agents",
      },
    });
    await closeAndCollect(await runOne(wire));
    expect(collector.headers[0]).toMatchObject({ "x-key": "a key", "x-other": "b" });
    expect(new Set(collector.spans.map(({ service }) => service))).toEqual(new Set(["agents"]));
  });

  it("hold up nobody when the collector is away: neither a session nor the end", async () => {
    await collector.close();
    const { wire } = await open();
    const id = await runOne(wire);
    const startedAt = performance.now();
    await closeAndCollect(id);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    collector = await startFakeCollector();
  });
});

describe("OpenTelemetry's SDK", () => {
  const run = async (env: Record<string, string>) => {
    const program = startProcess({
      entry: "test/integration/fixtures/list-loaded-packages.ts",
      env: { DATABASE_URL: "postgresql://127.0.0.1:1/none", ...env },
    });
    const [, loaded = ""] = await program.waitForLine(/^loaded: (.*)$/);
    await program.close();
    return loaded.split(" ");
  };

  it("is not loaded without a collector to send to", async () => {
    expect(await run({})).toEqual(["@opentelemetry/api"]);
  });

  it("is loaded with one", async () => {
    const loaded = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
    expect(loaded).toContain("@opentelemetry/sdk-trace");
    expect(collector.spans).toHaveLength(1);
  });
});
