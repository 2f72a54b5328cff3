import { afterEach, describe, expect, it } from "vitest";
import type { ModelScript, ParsedChatRequest, Reply } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, kindsOf, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

const start = async (script: ModelScript, worker = true): Promise<Wire> => {
  stack = await startStack({ script, worker });
  return createWire(stack.baseUrl, apiKey);
};
const call = (name: string, args: object): Reply => ({ toolCalls: [{ name, arguments: args }] });
const replies =
  (...list: Reply[]): ModelScript =>
  (_request, index) =>
    list[Math.min(index, list.length - 1)] as Reply;
const request = (index: number): ParsedChatRequest => {
  const found = stack?.model.requests[index];
  if (!found) throw new Error(`There is no request ${index}`);
  return found;
};
const toolsOf = (index: number) => request(index).body.tools?.map((tool) => tool.function.name) ?? [];
const said = (index: number) => JSON.stringify(request(index).body.messages);
const lastMessage = (index: number) => String(request(index).body.messages.at(-1)?.content);

/** Answers the one pending call. */
async function answer(wire: Wire, id: string, result: unknown): Promise<void> {
  await wire.until(id, "awaiting_tool_results");
  const [pending] = await wire.pending(id);
  expect(
    (await wire.post(`/sessions/${id}/tool_results`, resultFor(pending as PendingCall, result))).status,
  ).toBe(202);
}
const offeredOf = async (wire: Wire, id: string) =>
  Object.fromEntries(
    (await wire.get(`/sessions/${id}/tools`)).body.items.map(
      (item: { name: string; source: string; offered: boolean }) => [
        item.name,
        `${item.source} ${item.offered}`,
      ],
    ),
  );

const deferred = { ...weatherTool, defer_loading: true };
const emailTool = { name: "send_email", description: "Sends a message.", defer_loading: true };
const agentWith = (...tools: object[]) => ({ name: "x", tools });

describe("a deferred tool", () => {
  it("is kept out of the requests until a search finds it, and then stays for the whole session", async () => {
    const wire = await start(
      replies(
        call("search_tools", { query: "weather" }),
        call("get_weather", { city: "Rome" }),
        { text: "21." },
        { text: "Still 21." },
      ),
    );
    const id = await wire.create({ agent: agentWith(deferred, emailTool), messages: "Weather?" });
    await answer(wire, id, 21);
    await wire.until(id, "completed");
    await wire.post(`/sessions/${id}/messages`, { message: "And now?" });
    const done = await wire.until(id, "completed");
    expect([toolsOf(0), toolsOf(1), toolsOf(2)]).toEqual([
      ["search_tools"],
      ["get_weather", "search_tools"],
      ["get_weather", "search_tools"],
    ]);
    expect(JSON.parse(lastMessage(1))).toEqual({
      tools: [{ name: "get_weather", description: weatherTool.description }],
    });
    expect(kindsOf(done.new_events).filter((kind) => kind === "tool_result")).toHaveLength(2);
    expect(await offeredOf(wire, id)).toEqual({
      get_weather: "custom true",
      send_email: "custom false",
      search_tools: "builtin true",
    });
  });

  it("that is called without a search is refused with a hint, and nobody is asked", async () => {
    const wire = await start(replies(call("get_weather", { city: "Rome" }), { text: "No." }));
    const id = await wire.create({ agent: agentWith(deferred), messages: "Weather?" });
    const done = await wire.until(id, "completed");
    expect(lastMessage(1)).toContain("search_tools");
    expect(JSON.stringify(done.new_events)).not.toContain("awaiting_tool_results");
  });

  it("is offered from the start when tool_choice names it", async () => {
    const wire = await start(replies(call("get_weather", { city: "Rome" }), { text: "21." }));
    const agent = { ...agentWith(deferred, emailTool), tool_choice: "get_weather" };
    const id = await wire.create({ agent, messages: "Weather?" });
    await answer(wire, id, 21);
    await wire.until(id, "completed");
    expect([toolsOf(0), toolsOf(1)]).toEqual([
      ["get_weather", "search_tools"],
      ["get_weather", "search_tools"],
    ]);
  });

  it("is searched for beside a call of the caller's tool: one turn, both results", async () => {
    const wire = await start(
      replies(
        {
          toolCalls: [
            { name: "get_weather", arguments: { city: "Rome" } },
            { name: "search_tools", arguments: { query: "send message" } },
          ],
        },
        { text: "Sent." },
      ),
    );
    const id = await wire.create({ agent: agentWith(weatherTool, emailTool), messages: "Mail the weather." });
    await answer(wire, id, 21);
    await wire.until(id, "completed");
    const results = request(1).body.messages.filter(({ role }) => role === "tool");
    expect(results.map(({ content }) => content)).toEqual(["21", expect.stringContaining("send_email")]);
    expect(toolsOf(1)).toEqual(["get_weather", "send_email", "search_tools"]);
  });

  it("can be searched for often: a search is no useless step, and max_steps ends it", async () => {
    const wire = await start((request, index) =>
      request.body.tools ? call("search_tools", { query: `word${index}` }) : { text: "Nothing found." },
    );
    const agent = agentWith(deferred);
    const id = await wire.create({ agent, messages: "Weather?", max_steps: 14 });
    const done = await wire.until(id, "completed", "failed");
    expect(done).toMatchObject({ status: "completed", reason: "max_steps", answer: "Nothing found." });
    expect(lastMessage(1)).toContain("1 deferred tool");
  });

  it("is searched for in vain for ever only until repeat_limit", async () => {
    const wire = await start(() => call("search_tools", { query: "nothing" }));
    const id = await wire.create({ agent: agentWith(deferred), messages: "Weather?", repeat_limit: 5 });
    expect((await wire.until(id, "failed")).reason).toBe("repeat_limit");
  });

  it("is not found by a query that is none: the model is told", async () => {
    const wire = await start(replies(call("search_tools", { words: 1 }), { text: "No." }));
    const id = await wire.create({ agent: agentWith(deferred), messages: "Weather?" });
    await wire.until(id, "completed");
    expect(lastMessage(1)).toContain("query");
  });
});

describe("a tool with max_retries", () => {
  it("is offered no more after so many failures, said once, and a call of it is refused", async () => {
    const wire = await start(
      replies(
        call("get_weather", { city: "Rome" }),
        call("get_weather", { town: "Rome" }),
        call("get_weather", { city: "Rome" }),
        { text: "I do not know." },
      ),
    );
    const id = await wire.create({
      agent: agentWith({ ...weatherTool, max_retries: 2 }, { name: "other", description: "d" }),
      messages: "Weather?",
    });
    await answer(wire, id, { error: "No such city" });
    const done = await wire.until(id, "completed");
    expect([toolsOf(1), toolsOf(2), toolsOf(3)]).toEqual([["get_weather", "other"], ["other"], ["other"]]);
    expect(said(1)).not.toContain("no longer offered");
    expect(said(1)).toContain("Error: No such city");
    expect(said(2).match(/it is no longer offered/g)).toHaveLength(1);
    expect(lastMessage(3)).toContain("failed 2 times");
    expect(said(3).match(/it is no longer offered/g)).toHaveLength(1);
    expect(JSON.stringify(done.new_events)).not.toContain("not_offered");
  });

  it("is listed as not offered in the run in which it failed too often", async () => {
    const wire = await start(replies(call("get_weather", { city: "Rome" }), call("other", {})));
    const agent = agentWith({ ...weatherTool, max_retries: 1 }, { name: "other", description: "d" });
    const id = await wire.create({ agent, messages: "Weather?" });
    await wire.until(id, "awaiting_tool_results");
    expect(await offeredOf(wire, id)).toEqual({ get_weather: "custom true", other: "custom true" });
    await answer(wire, id, { isError: true, text: "No such city" });
    await waitFor(() => stack?.model.requests[1], { what: "the second request" });
    expect(await offeredOf(wire, id)).toEqual({ get_weather: "custom false", other: "custom true" });
  });
});

describe("builtins: false", () => {
  const format = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  it("offers the caller's tools alone; an answer with a format is text, and is corrected as such", async () => {
    const wire = await start(replies({ text: "one" }, call("submit_answer", { n: 1 }), { text: '{"n":1}' }));
    const agent = { ...agentWith(weatherTool), answer_format: format, builtins: false };
    const id = await wire.create({ agent, messages: "How many?" });
    const done = await wire.until(id, "completed", "failed");
    expect(done.answer).toEqual({ n: 1 });
    expect(toolsOf(0)).toEqual(["get_weather"]);
    expect(request(0).body.messages[0]?.content).toContain(JSON.stringify(format));
    expect(lastMessage(1)).toContain("JSON object");
    expect(said(1)).not.toContain("submit_answer");
    expect(lastMessage(2)).toContain("There is no tool");
    expect(await offeredOf(wire, id)).toEqual({ get_weather: "custom true" });
  });

  it("is refused with a deferred tool, wherever it is said", async () => {
    const wire = await start(() => ({ text: "Hi." }), false);
    const agent = agentWith(deferred);
    const onAgent = await wire.post("/sessions", { agent: { ...agent, builtins: false }, messages: "Hi" });
    expect(onAgent).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "agent", "builtins"] }] },
    });
    const onRequest = await wire.post("/sessions", { agent, builtins: false, messages: "Hi" });
    expect(onRequest).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "builtins"] }] } });
    expect(JSON.stringify(onRequest.body)).toContain("get_weather");
  });
});

describe("tool_choice", () => {
  it("is for the first step of a run: the next one is free, and a new run begins with it again", async () => {
    const wire = await start((request) =>
      request.body.tool_choice === "auto" ? { text: "Done." } : call("get_weather", { city: "Rome" }),
    );
    const id = await wire.create({ agent: agentWith(weatherTool), tool_choice: "required", messages: "Hi" });
    await answer(wire, id, 21);
    await wire.until(id, "completed");
    await wire.post(`/sessions/${id}/messages`, { message: "Again." });
    await answer(wire, id, 22);
    await wire.until(id, "completed");
    expect(stack?.model.requests.map(({ body }) => body.tool_choice)).toEqual([
      "required",
      "auto",
      "required",
      "auto",
    ]);
  });

  it("that is required forces nothing where there are no tools", async () => {
    const wire = await start(() => ({ text: "Hi." }));
    const id = await wire.create({ agent: { name: "x" }, tool_choice: "required", messages: "Hi" });
    await wire.until(id, "completed");
    expect([request(0).body.tool_choice, request(0).body.tools]).toEqual([undefined, undefined]);
  });

  it("that names no tool of the session is refused", async () => {
    const wire = await start(() => ({ text: "Hi." }), false);
    const body = { agent: agentWith(weatherTool), tool_choice: "search_tools", messages: "Hi" };
    const refused = await wire.post("/sessions", body);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "tool_choice"] }] } });
  });
});

describe("the tools of a session", () => {
  it("are listed with their definitions, and what the last step offers of them", async () => {
    const wire = await start(replies(call("get_weather", { city: "Rome" }), { text: "No." }));
    const format = { type: "object", properties: { n: { type: "integer" } } };
    const tool = { ...weatherTool, title: "Weather", examples: [{ city: "Rome" }] };
    const agent = { ...agentWith(tool, emailTool), answer_format: format };
    const id = await wire.create({ agent, messages: "Weather?", max_steps: 1 });
    await wire.until(id, "awaiting_tool_results");
    const { body } = await wire.get(`/sessions/${id}/tools`);
    expect(body.items).toMatchObject([
      { ...tool, source: "custom", offered: false },
      { ...emailTool, source: "custom", offered: false },
      { name: "search_tools", source: "builtin", offered: false, input_schema: { required: ["query"] } },
      { name: "submit_answer", source: "builtin", offered: true, input_schema: format },
    ]);
    expect(said(0)).not.toContain('"title"');
  });
});
