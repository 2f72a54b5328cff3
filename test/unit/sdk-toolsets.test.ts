import {
  combined,
  filtered,
  prefixed,
  renamed,
  TandemClient,
  type Tool,
  toDefinitions,
  tool,
  toolset,
} from "@tandem/sdk";
import { describe, expect, it } from "vitest";
import { fakeSessionId } from "../support/fake-tandem-server.ts";

const noArguments = { type: "object", properties: {} } as const;
const weather = toolset({
  weather: {
    forecast: {
      description: "The coming days.",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      examples: [{ city: "Oslo" }],
      timeoutMs: 1_200,
      execute: ({ city }) => `Sunny in ${city}`,
    },
    history: { description: "The past days.", inputSchema: noArguments, execute: () => "Rain" },
  },
});
const mail = toolset({
  mail: { send: { description: "Sends.", inputSchema: noArguments, execute: () => "Sent" } },
});
const namesOf = ({ tools }: { tools: readonly { name: string }[] }) => tools.map(({ name }) => name);

/** The tools of the session that is created with these. */
async function toldTools(options: Parameters<TandemClient["startSession"]>[0]): Promise<unknown> {
  let body: { overrides?: Record<string, unknown> } = {};
  const fetch: typeof globalThis.fetch = async (input) => {
    body = (await (input as Request).json()) as typeof body;
    return Response.json({ id: fakeSessionId });
  };
  await new TandemClient({ apiKey: "key", fetch }).startSession(options);
  return body.overrides?.["agent.tools"];
}

describe("a toolset", () => {
  it("names its tools after collection and function, and tells the server their contracts", async () => {
    expect(namesOf(weather)).toEqual(["weather_forecast", "weather_history"]);
    expect(await toldTools({ agent: "a", tools: [weather] })).toEqual([
      {
        name: "weather_forecast",
        description: "The coming days.",
        input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        timeout_s: 2,
        examples: [{ city: "Oslo" }],
      },
      { name: "weather_history", description: "The past days.", input_schema: noArguments },
    ]);
  });

  it("has the faults of its functions told with their names", () => {
    const bad = { description: "d", inputSchema: { type: "string" } as const, execute: () => 1 };
    expect(() => toolset({ a: { b: bad } })).toThrow('Tool "a_b": inputSchema: the top level');
    expect(() => toolset({ "a b": { c: bad } })).toThrow('Tool "a b_c": a name has');
  });

  it("can be prefixed, renamed, filtered and combined", () => {
    expect(namesOf(prefixed(weather, "my_"))).toEqual(["my_weather_forecast", "my_weather_history"]);
    expect(namesOf(renamed(weather, { weather_history: "past" }))).toEqual(["weather_forecast", "past"]);
    expect(namesOf(filtered(weather, ["weather_history"]))).toEqual(["weather_history"]);
    expect(namesOf(filtered(weather, ({ description }) => description.includes("coming")))).toEqual([
      "weather_forecast",
    ]);
    expect(namesOf(combined(mail, weather))).toEqual(["mail_send", "weather_forecast", "weather_history"]);
    expect(namesOf(weather)).toEqual(["weather_forecast", "weather_history"]);
  });

  it("refuses a name that is too long, and one that it does not have", () => {
    expect(() => prefixed(weather, "x".repeat(60))).toThrow("at most 64 long");
    expect(() => filtered(weather, ["past" as "weather_history"])).toThrow(
      'The toolset has no tool named "past". Its tools: weather_forecast, weather_history.',
    );
    expect(() => renamed(weather, { past: "x" } as never)).toThrow('no tool named "past"');
  });

  it("with two tools of a name says where both come from", () => {
    expect(() => combined(weather, filtered(weather, ["weather_forecast"]))).toThrow(
      'Two tools are named "weather_forecast": toolset weather.forecast and toolset weather.forecast',
    );
    expect(() => renamed(weather, { weather_history: "weather_forecast" })).toThrow(
      "toolset weather.forecast and toolset weather.history",
    );
  });
});

describe("tools of a session", () => {
  const single = tool({ name: "mail_send", description: "d", fn: () => null });

  it("can be tools and toolsets, and say where two of a name come from", async () => {
    expect(await toldTools({ agent: "a", tools: [weather, single] })).toHaveLength(3);
    await expect(toldTools({ agent: "a", tools: [mail, single] })).rejects.toThrow(
      'Two tools are named "mail_send": toolset mail.send and tools[1]',
    );
    await expect(toldTools({ agent: "a", tools: [single, single] })).rejects.toThrow("tools[0] and tools[1]");
  });

  it("are refused when they are not made by `tool`, or say by a promise whether they are enabled", async () => {
    const plain = { name: "x", description: "X.", fn: () => 1 };
    expect(() => toDefinitions([plain as unknown as Tool])).toThrow("tools[0] must be made by tool()");
    const asks = tool({ ...plain, enabled: (async () => false) as unknown as () => boolean });
    const session = new TandemClient({ apiKey: "key" }).startSession({ agent: "a", tools: [asks] });
    await expect(session).rejects.toThrow('Tool "x": enabled must give a boolean');
  });

  it("are told to the server where they are enabled for the run's context", async () => {
    const asked: unknown[] = [];
    const gated = tool({
      name: "gated",
      description: "d",
      enabled: (context) => {
        asked.push(context);
        return context.context === "admin";
      },
      fn: () => null,
    });
    const tools = [gated, single];
    expect(await toldTools({ agent: "a", tools, context: "admin" })).toHaveLength(2);
    expect(await toldTools({ agent: "a", tools, context: "guest" })).toMatchObject([{ name: "mail_send" }]);
    expect(asked[0]).toEqual({ context: "admin", sessionId: null });
  });
});
