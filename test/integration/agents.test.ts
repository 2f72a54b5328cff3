import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack;
let wire: Wire;

beforeAll(async () => {
  stack = await startStack({ script: () => ({ text: "Hello." }) });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

const support = { name: "acme/support", description: "Answers.", environments: [], instructions: "Be kind." };

describe("agents", () => {
  it("are registered, read, replaced, changed and deleted, with a slash in their names", async () => {
    expect((await wire.post("/agents", support)).status).toBe(201);
    for (const path of ["/agents/acme/support", "/agents/acme%2Fsupport"]) {
      expect((await wire.get(path)).body).toEqual(support);
    }
    const again = await wire.post("/agents", support);
    expect(again.status).toBe(409);
    expect(again.body.code).toBe("agent_exists");

    const replaced = { ...support, description: "Other." };
    expect((await wire.send("PUT", "/agents/acme/support", { body: replaced })).body).toEqual(replaced);
    const renamed = await wire.send("PUT", "/agents/acme/support", { body: { ...support, name: "other" } });
    expect(renamed.status).toBe(422);
    expect(renamed.body.detail[0].loc).toEqual(["body", "name"]);

    const patch = { instructions: null, environments: [{ kind: "web" }], tools: [weatherTool] };
    const patched = await wire.send("PATCH", "/agents/acme/support", { body: patch });
    expect(patched.body).toEqual({
      ...replaced,
      instructions: null,
      environments: [{ id: "web", kind: "web" }],
      tools: [weatherTool],
    });

    expect((await wire.send("DELETE", "/agents/acme/support")).status).toBe(204);
    expect((await wire.get("/agents/acme/support")).status).toBe(404);
    expect((await wire.send("DELETE", "/agents/acme/support")).status).toBe(404);
  });

  it("of the server's namespace can be read and run, and not be changed or made", async () => {
    expect((await wire.get("/agents/tandem/assistant")).status).toBe(200);
    const body = { name: "tandem/assistant", description: "d", environments: [] };
    for (const [method, sent] of [
      ["PUT", body],
      ["PATCH", { description: "d" }],
      ["DELETE", undefined],
    ] as const) {
      const reply = await wire.send(
        method,
        "/agents/tandem/assistant",
        sent === undefined ? {} : { body: sent },
      );
      expect(reply.status, method).toBe(409);
      expect(reply.body.code).toBe("agent_read_only");
    }
    expect((await wire.post("/agents", { ...body, name: "tandem/mine" })).status).toBe(422);
    const id = await wire.create({ agent: "tandem/assistant", messages: "Hi" });
    await wire.until(id, "completed");
  });

  it("are listed in pages, sorted and searched", async () => {
    for (const name of ["list-b", "list-a", "list-c"]) {
      await wire.post("/agents", { name, description: `100% ${name}`, environments: [] });
    }
    const names = async (query: string) =>
      (await wire.get(`/agents?${query}`)).body.items.map((agent: { name: string }) => agent.name);
    expect(await names("search=LIST-&sort=agent_name")).toEqual(["list-a", "list-b", "list-c"]);
    expect(await names("search=list-&sort=-agent_name&size=2&page=2")).toEqual(["list-a"]);
    expect(await names("search=list-&sort=created_at")).toEqual(["list-b", "list-a", "list-c"]);
    expect(await names("search=100%25%20list-a")).toEqual(["list-a"]);
    expect(await names("search=%25%25%25")).toEqual([]);
    expect(await names("agent_name=list-c")).toEqual(["list-c"]);
  });

  it("show their registered subagents' definitions when asked to resolve", async () => {
    await wire.post("/agents", { name: "child", description: "c", environments: [], subagents: ["parent"] });
    await wire.post("/agents", {
      name: "parent",
      description: "p",
      environments: [],
      subagents: ["child", "gone"],
    });
    expect((await wire.get("/agents/parent")).body.subagents).toEqual(["child", "gone"]);
    const { body, status } = await wire.get("/agents/parent?resolve=true");
    expect(status).toBe(200);
    expect(body.subagents[0]).toMatchObject({ name: "child", description: "c" });
    expect(body.subagents[1]).toBe("gone");
  });

  it("run with overrides, and added tools come beside their own", async () => {
    await wire.post("/agents", { ...support, name: "runner", tools: [weatherTool] });
    const overrides = {
      "agent.instructions": "Be short.",
      "agent.tools": [{ name: "other", description: "Another." }],
      "agent.tools[name=get_weather].description": "Changed.",
    };
    const id = await wire.create({ agent: "runner", messages: "Hi", overrides });
    await wire.until(id, "completed");
    const sent = stack.model.requests.at(-1)?.body;
    expect(sent?.messages[0]?.content).toBe("Be short.");
    expect(sent?.tools?.map((tool) => [tool.function.name, tool.function.description])).toEqual([
      ["get_weather", "Changed."],
      ["other", "Another."],
    ]);
    const { request } = (await wire.get(`/sessions/${id}`)).body;
    expect(request).toMatchObject({ agent: "runner", overrides });
  });

  it("that change do not change sessions that run", async () => {
    await wire.post("/agents", { ...support, name: "changing" });
    const id = await wire.create({ agent: "changing", messages: "Hi" });
    await wire.until(id, "completed");
    await wire.send("DELETE", "/agents/changing");
    await wire.post(`/sessions/${id}/messages`, { message: "Again" });
    await wire.until(id, "completed");
    expect(stack.model.requests.at(-1)?.body.messages[0]?.content).toBe("Be kind.");
  });
});

describe("a server without a default model", () => {
  it("refuses an agent that names none, and says which setting is missing", async () => {
    const bare = await startStack({ env: { TANDEM_MODEL: "" } });
    const reply = await createWire(bare.baseUrl, apiKey).post("/sessions", {
      agent: { name: "x" },
      messages: "Hi",
    });
    await bare.close();
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["body", "agent", "model"]);
    expect(reply.body.detail[0].msg).toContain("TANDEM_MODEL");
  });
});
