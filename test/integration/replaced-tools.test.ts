import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript, type Reply } from "../support/fake-model-server.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const keep = { ...weatherTool, name: "keep" };
const gone = { ...weatherTool, name: "gone" };
const flaky = { ...weatherTool, name: "flaky", max_retries: 2 };
const long = { ...weatherTool, name: "long", max_result_tokens: 5 };

describe("a session's tools", () => {
  let stack: TestStack;
  let wire: Wire;
  /** Holds model requests whose message says so. */
  let gate: Gate;

  const script: ModelScript = async (request): Promise<Reply> => {
    const text = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
    const results = lastToolResults(request);
    if (results.length > 0 && !text.startsWith("again"))
      return { text: results.map(({ content }) => content).join(" | ") };
    if (text.startsWith("held")) await gate.opened;
    const names = text.split(" ").slice(1);
    const calls = names.map((name) => ({ name, arguments: { city: "Oslo" } }));
    const isOver = text.startsWith("again") && !request.body.tools?.length;
    return isOver ? { text: String(results.at(-1)?.content) } : { toolCalls: calls };
  };

  beforeAll(async () => {
    gate = createGate();
    stack = await startStack({ script: (request, index) => script(request, index) });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const start = (messages: string, tools: object[]) => wire.create({ agent: { name: "x", tools }, messages });
  const put = (id: string, tools: object[]) => wire.send("PUT", `/sessions/${id}/tools`, { body: { tools } });
  const offered = () => stack.model.requests.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];
  const settle = async (id: string, value: unknown) => {
    for (const call of (await wire.pending(id)) as PendingCall[])
      await wire.post(`/sessions/${id}/tool_results`, resultFor(call, value));
  };

  it("are replaced between turns, and not while calls are open", async () => {
    const id = await start("ask keep", [keep, gone]);
    await wire.until(id, "awaiting_tool_results");
    expect(await put(id, [keep])).toMatchObject({ status: 409, body: { code: "calls_pending" } });
    await settle(id, "one");
    await wire.until(id, "completed");
    const bad = await put(id, [keep, { ...keep, name: "run_code" }]);
    expect(bad.body.detail).toMatchObject([
      { loc: ["body", "tools", 1, "name"], type: "tool_name_reserved" },
    ]);
    const text = `{"tools":[${JSON.stringify(keep).replace(/}$/, ',"max_retries":1.00000000000000000001}')}]}`;
    const inexact = await wire.send("PUT", `/sessions/${id}/tools`, {
      ...{ text, headers: { "content-type": "application/json" } },
    });
    expect(inexact.body.detail).toMatchObject([{ loc: ["body", "tools", 0, "max_retries"] }]);
    const { body } = await put(id, [{ ...gone, name: "fresh" }]);
    expect(body.items).toMatchObject([{ name: "fresh", source: "custom", offered: true }]);
    await wire.post(`/sessions/${id}/messages`, { message: "ask fresh" });
    await wire.until(id, "awaiting_tool_results");
    expect(offered()).toEqual(["fresh"]);
  });

  it("that are replaced while the model is asked are called where they are the same, and only there", async () => {
    const id = await start("held keep gone", [keep, gone]);
    const isAsked = () =>
      stack.model.requests.some(({ body }) => JSON.stringify(body.messages).includes("held keep"));
    await expect.poll(isAsked, { timeout: 20_000 }).toBe(true);
    expect((await put(id, [keep])).status).toBe(200);
    gate.open();
    await wire.until(id, "awaiting_tool_results");
    expect((await wire.pending(id)).map(({ tool_name }) => tool_name)).toEqual(["keep"]);
    await settle(id, "kept");
    const { answer } = await wire.until(id, "completed");
    expect(answer).toBe(
      "kept | Error: The call was not made: the tool was replaced or removed meanwhile. Look at the tools again.",
    );
  });

  it("are offered no more when they have failed as often as they may, and the model is told once", async () => {
    const id = await start("again flaky", [flaky]);
    for (const [round, value] of ["first", "second"].entries()) {
      await expect
        .poll(
          async () => (await wire.pending(id)).length + (await wire.get(`/sessions/${id}/status`)).body.steps,
          {
            timeout: 20_000,
          },
        )
        .toBe(round + 2);
      await settle(id, { error: value });
    }
    await wire.until(id, "completed");
    const texts = stack.model.requests.at(-1)?.body.messages.map(({ content }) => String(content)) ?? [];
    expect(offered()).toEqual([]);
    expect(texts.filter((text) => text.includes("no longer") || text.includes("no more"))).toHaveLength(1);
    const { items } = (await wire.get(`/sessions/${id}/tools`)).body;
    expect(items).toMatchObject([{ name: "flaky", source: "custom" }]);
  });

  it("whose results are cut for the model keep all of them in the history, marked", async () => {
    const id = await start("ask long", [long]);
    await wire.until(id, "awaiting_tool_results");
    const value = "é".repeat(1_000);
    await settle(id, value);
    const { answer, new_events } = await wire.until(id, "completed");
    expect(answer.length).toBeLessThan(200);
    expect(answer).toMatch(/^é{20}/);
    const event = new_events.find(({ data }: { data: { kind?: string } }) => data.kind === "tool_result");
    expect(event.data).toMatchObject({ result: value, truncated: true });
  });
});
