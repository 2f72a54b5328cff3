import { APICallError } from "@ai-sdk/provider";
import { loadConfig as loadApiConfig } from "@tandem/api/config";
import { parseOverridePath } from "@tandem/api/session-request/override-path";
import { SettingsError } from "@tandem/engine/domain/settings";
import { loadConfig as loadStandaloneConfig } from "@tandem/standalone/config";
import { judgeModelError, ModelTimeoutError } from "@tandem/worker/agent/model-errors";
import { loadConfig as loadWorkerConfig } from "@tandem/worker/config";
import { describe, expect, it } from "vitest";

const DATABASE_URL = "postgresql://u:p@127.0.0.1:5433/x";

describe("settings", () => {
  it("have the documented defaults", () => {
    expect(loadApiConfig({ DATABASE_URL })).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      logLevel: "info",
      sweepMs: 5_000,
      rateLimitPerMinute: 0,
      databaseConnections: 10,
    });
    expect(loadWorkerConfig({ DATABASE_URL })).toMatchObject({
      concurrency: 100,
      leaseMs: 30_000,
      modelTimeoutS: 300,
    });
    expect(loadStandaloneConfig({})).toMatchObject({
      dataDir: ".tandem",
      isEmbedded: true,
      isDemoModel: true,
    });
    expect(loadStandaloneConfig({}).api.models.defaultModel).toBe("demo/keyword");
  });

  it("report every problem at once, and no secret", () => {
    const env = {
      DATABASE_URL: "mysql://u:hunter2@x",
      PORT: "70000",
      LOG_LEVEL: "loud",
      REDIS_URL: "nope",
      TANDEM_MODEL: "openai/x",
      TANDEM_SWEEP_MS: "1.5",
      TANDEM_RATE_LIMIT_PER_MINUTE: "-1",
    };
    try {
      loadApiConfig(env);
      expect.unreachable();
    } catch (error) {
      const { problems, message } = error as SettingsError;
      expect(error).toBeInstanceOf(SettingsError);
      for (const name of Object.keys(env)) expect(problems.join("\n")).toContain(name);
      expect(problems.join("\n")).toContain("OPENAI_API_KEY");
      expect(message).not.toContain("hunter2");
    }
  });

  it("of the API may have its public address, to which paths are added", () => {
    const load = (url: string) => loadApiConfig({ DATABASE_URL, TANDEM_PUBLIC_URL: url }).publicUrl;
    expect(load("https://Agents.example:8443/tandem//")).toBe("https://agents.example:8443/tandem");
    expect(load("http://agents.example/")).toBe("http://agents.example");
    expect(load(" ")).toBeUndefined();
  });

  it.each(["agents.example", "ftp://x", "https://x/?a", "https://x/#a", "https://u:hunter2@x", "/api"])(
    "of the API refuse %j as its public address",
    (url) => {
      const load = () => loadApiConfig({ DATABASE_URL, TANDEM_PUBLIC_URL: url });
      expect(load).toThrow("TANDEM_PUBLIC_URL");
      expect(load).not.toThrow("hunter2");
    },
  );

  it("of split processes need a database", () => {
    expect(() => loadApiConfig({})).toThrow("DATABASE_URL");
    expect(() => loadWorkerConfig({ DATABASE_URL: "  " })).toThrow("DATABASE_URL");
  });
});

describe("a path of an override", () => {
  it.each([
    [
      "agent.instructions",
      [
        { field: "agent", selectors: [] },
        { field: "instructions", selectors: [] },
      ],
    ],
    [
      "agent.tools[name=a.b].description",
      [
        { field: "agent", selectors: [] },
        { field: "tools", selectors: [{ field: "name", value: "a.b" }] },
        { field: "description", selectors: [] },
      ],
    ],
    ["", null],
    ["agent.", null],
    [".agent", null],
    ["agent..x", null],
    ["agent.tools[name]", null],
    ["agent.tools[name=a", null],
  ])("%j is read as %j", (path, steps) => expect(parseOverridePath(path)).toEqual(steps));
});

describe("an error of a model request", () => {
  const api = (statusCode: number | undefined, headers: Record<string, string> = {}) =>
    new APICallError({
      message: "no",
      url: "http://x",
      requestBodyValues: {},
      ...(statusCode === undefined ? {} : { statusCode }),
      responseHeaders: headers,
    });
  const judge = (error: unknown, failures = 0) =>
    judgeModelError(error, { failures, secrets: ["s3cret"], random: () => 1 });

  it.each([429, 408, 500, 503, undefined])("with status %s is worth another try", (status) => {
    expect(judge(api(status))).toMatchObject({ reason: "provider_unavailable", retryInMs: 1_000 });
  });

  it.each([400, 401, 403, 404, 422])("with status %s is not", (status) => {
    expect(judge(api(status))).toMatchObject({ reason: "provider_refused", retryInMs: null });
  });

  it("waits longer each time, and gives up", () => {
    expect([0, 1, 2, 3, 4].map((failures) => judge(new ModelTimeoutError(1), failures).retryInMs)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000,
    ]);
    expect(judge(api(503), 5)).toMatchObject({ retryInMs: null, reason: "provider_unavailable" });
  });

  it("honours Retry-After within reason", () => {
    expect(judge(api(429, { "retry-after": "7" })).retryInMs).toBe(7_000);
    expect(judge(api(429, { "retry-after": "999999" })).retryInMs).toBe(600_000);
    expect(judge(api(429, { "retry-after": "soon" })).retryInMs).toBe(1_000);
  });

  it("measures a Retry-After that is a date by the provider's own clock", () => {
    const date = "Sun, 06 Nov 1994 08:49:37 GMT";
    const headers = { date, "retry-after": "Sun, 06 Nov 1994 08:49:44 GMT" };
    expect(judge(api(429, headers)).retryInMs).toBe(7_000);
  });

  it("shows no secret", () => {
    const refused = new APICallError({
      message: "key s3cret is wrong",
      url: "x",
      requestBodyValues: {},
      statusCode: 401,
    });
    expect(judge(refused).error).toContain("key *** is wrong");
  });

  it("that is a fault of ours says so, and keeps the cause for the log", () => {
    const judged = judge(new TypeError("Cannot read properties of undefined"));
    expect(judged).toMatchObject({ reason: "internal", retryInMs: 1_000 });
    expect(judged.error).not.toContain("properties");
  });
});
