import { newSessionId } from "@tandem/engine/domain/ids";
import { toSessionMove } from "@tandem/engine/domain/session-move";
import { SettingsReader } from "@tandem/engine/domain/settings";
import { readTelemetrySettings } from "@tandem/engine/domain/telemetry-settings";
import { mayScrape } from "@tandem/engine/telemetry/metrics-token";
import { createReading } from "@tandem/engine/telemetry/reading";
import {
  readTraceparent,
  toCreationMs,
  toRootSpanId,
  toStepSpanId,
  toTraceId,
} from "@tandem/engine/telemetry/spans";
import { describe, expect, it } from "vitest";

describe("the ids of a session's trace", () => {
  it("follow from the session's id, and have the form that OpenTelemetry wants", () => {
    const id = newSessionId();
    const before = Date.now();
    expect(toTraceId(id)).toMatch(/^[0-9a-f]{32}$/);
    expect(toRootSpanId(id)).toMatch(/^[0-9a-f]{16}$/);
    expect(Math.abs(toCreationMs(id) - before)).toBeLessThan(1_000);
  });

  it("differ for each claim, and from the session's own", () => {
    const id = "01a22994-1b00-7536-ffff-ffffffffffff";
    const ids = [
      toRootSpanId(id),
      ...Array.from({ length: 10_000 }, (_, fence) => toStepSpanId(id, fence + 1)),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((spanId) => !/^[0-9a-f]{16}$/.test(spanId))).toEqual([]);
    expect(toStepSpanId(id, 7)).toBe(toStepSpanId(id, 7));
  });
});

describe("a traceparent header", () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const spanId = "00f067aa0ba902b7";

  it.each([`00-${traceId}-${spanId}-01`, `cc-${traceId}-${spanId}-00-later-versions-add-more`])(
    "names a span: %s",
    (header) => {
      expect(readTraceparent(header)).toEqual({ traceId, spanId });
    },
  );

  it.each([
    undefined,
    "",
    `ff-${traceId}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01x`,
  ])("names none: %s", (header) => {
    expect(readTraceparent(header)).toBeNull();
  });
});

describe("the settings of metrics and traces", () => {
  const read = (env: Record<string, string>) => {
    const reader = new SettingsReader(env);
    const settings = readTelemetrySettings(reader);
    reader.finish();
    return settings;
  };

  it("are nothing by default", () => {
    expect(read({})).toEqual({});
    expect(read({ OTEL_SERVICE_NAME: "x", OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toEqual({});
  });

  it("take OpenTelemetry's own names", () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example/base/",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a=b, x-team = blue ,",
      OTEL_SERVICE_NAME: "agents",
    };
    expect(read(env)).toEqual({
      traces: {
        endpoint: "https://collector.example/base",
        headers: { authorization: "Bearer a=b", "x-team": "blue" },
        serviceName: "agents",
      },
    });
  });

  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" },
    { OTEL_EXPORTER_OTLP_HEADERS: "hush-hush" },
    { TANDEM_METRICS_TOKEN: "hush" },
    { TANDEM_METRICS_TOKEN: "hush hush hush" },
  ])("are refused without being told: %j", (env) => {
    const [[name, value] = ["", ""]] = Object.entries(env);
    expect(() => read(env as unknown as Record<string, string>)).toThrow(name);
    expect(() => read(env as unknown as Record<string, string>)).not.toThrow(value);
  });
});

it("a scrape needs the token that is set, whole", () => {
  expect(mayScrape(undefined, undefined)).toBe(true);
  expect(mayScrape("Bearer right-token", "right-token")).toBe(true);
  for (const wrong of [undefined, "", "Bearer", "Bearer right-toke", "Bearer right-tokens", "right-token"])
    expect(mayScrape(wrong, "right-token")).toBe(false);
});

describe("a reading", () => {
  it("is asked for once by all who ask together, and kept for a while", async () => {
    let count = 0;
    const read = createReading(async () => ++count);
    expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
    expect(await read()).toBe(1);
  });

  it("that fails is null, and asked for again", async () => {
    let count = 0;
    const read = createReading(async () => {
      count++;
      if (count === 1) throw new Error("away");
      return count;
    });
    expect(await read()).toBeNull();
    expect(await read()).toBe(2);
  });

  it("that takes long is null at first, is not asked for twice meanwhile, and comes in time for somebody", async () => {
    let count = 0;
    let answer: (value: number) => void = () => undefined;
    const read = createReading(() => {
      count++;
      return new Promise<number>((resolve) => {
        answer = resolve;
      });
    });
    expect(await read()).toBeNull();
    const second = read();
    answer(7);
    expect(await second).toBe(7);
    expect(count).toBe(1);
  });
});

describe("a session's move", () => {
  const session = { status: "running", stateMs: 5, steps: 3, runSteps: 3 } as const;

  it("is none while the state stays", () => {
    expect(toSessionMove(session, {})).toBeNull();
    expect(toSessionMove(session, { status: "running" })).toBeNull();
  });

  it("says why a session ended, and whether it had ended before", () => {
    const end = { status: "completed", reason: "answered" } as const;
    const move = { from: "running", to: "completed", afterMs: 5, reason: "answered", isFirstEnd: true };
    expect(toSessionMove(session, end)).toEqual(move);
    expect(toSessionMove({ ...session, steps: 4 }, end)).toEqual({ ...move, isFirstEnd: false });
    expect(toSessionMove(session, { status: "idle" })).toMatchObject({ reason: null, isFirstEnd: false });
  });
});
