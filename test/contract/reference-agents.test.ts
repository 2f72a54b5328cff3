import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { weatherTool } from "../support/wire.ts";
import { type CheckedWire, type Contract, createCheckedWire, createContract } from "./checked-wire.ts";
import { answerFormat, createScriptedModel, nobody } from "./scripted-model.ts";

function fullBrowser() {
  return {
    id: "b",
    kind: "web",
    host: "cloud",
    start_url: "https://example.org",
    headless: true,
    session_id: null,
    mode: { type: "visual", width: 800, height: 600, markdown: true },
    lazy: true,
    vault_id: nobody,
    browser_profile_id: null,
    use_default_browser_profile: false,
    persist_browser_profile: true,
    network: { proxy_url: "https://proxy.example.org" },
  };
}

describe("replies about agents", () => {
  let contract: Contract;
  let stack: TestStack;
  let wire: CheckedWire;

  beforeAll(async () => {
    contract = await createContract();
    stack = await startStack({ script: createScriptedModel() });
    wire = createCheckedWire(contract, stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const agent = { name: "weather-agent", tools: [weatherTool] };
  const skill = {
    name: "reading",
    description: "Reads.",
    body: "Read.",
    source: null,
    url_pattern: "https://x/*",
  };

  it.each<{ what: string; environments: unknown[] }>([
    { what: "a browser without an id", environments: [{ kind: "web" }] },
    { what: "a browser without a kind", environments: [{ start_url: "https://example.org" }] },
    {
      what: "a browser that sees",
      environments: [{ id: "b", kind: "web", mode: { type: "visual", width: 800 } }],
    },
    {
      what: "a browser that reads",
      environments: [{ kind: "web", mode: { type: "text", chunk_size: 100 } }],
    },
    { what: "a browser with all fields", environments: [fullBrowser()] },
    { what: "a desktop with its host", environments: [{ kind: "desktop", host: "user_device" }] },
    { what: "a desktop without its host", environments: [{ kind: "desktop" }] },
    { what: "a registered name", environments: ["my-browser"] },
    {
      what: "both kinds",
      environments: [{ kind: "web" }, { id: "d", kind: "desktop", host: "user_device" }],
    },
  ])("are accepted for $what, and shown as the reference has it", async ({ environments }) => {
    const id = await wire.create({ agent: { ...agent, environments }, messages: "Hello." });
    const events = await wire.until(id, "completed");
    expect(events.filter(({ data }) => data.origin === "environment")).toHaveLength(environments.length);
    await wire.look(id);
  });

  it.each<{ what: string; environment: unknown }>([
    { what: "a width of zero", environment: { kind: "web", mode: { type: "visual", width: 0 } } },
    { what: "a mode without a type", environment: { kind: "web", mode: {} } },
    { what: "an unknown mode", environment: { kind: "web", mode: { type: "audio" } } },
    { what: "a start_url that is no text", environment: { kind: "web", start_url: 5 } },
    { what: "a desktop in the cloud", environment: { kind: "desktop", host: "cloud" } },
    { what: "an empty id", environment: { kind: "web", id: "" } },
    { what: "a vault that is no uuid", environment: { kind: "web", vault_id: "mine" } },
  ])("are refused at the place of the fault for $what", async ({ environment }) => {
    const reply = await wire.post("/sessions", {
      agent: { ...agent, environments: [environment] },
      messages: "Hi.",
    });
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc.slice(0, 4)).toEqual(["body", "agent", "environments", 0]);
  });

  it("fit both documents with subagents and skills, named and inline", async () => {
    const request = {
      agent: {
        ...agent,
        subagents: ["tandem/assistant", { name: "helper", environments: [{ kind: "web" }], subagents: [] }],
        skills: ["writing", skill],
      },
      messages: "Hello.",
    };
    const id = await wire.create(request);
    await wire.until(id, "completed");
    await wire.look(id);
  });

  it("fit both documents for registered agents, from create to delete", async () => {
    const plain = { name: "org/weather", description: "Knows the weather.", environments: [] };
    const full = {
      ...plain,
      name: "full",
      environments: ["my-browser", { kind: "web" }, { id: "d", kind: "desktop", host: "user_device" }],
      model: "compatible/fake",
      instructions: "Be brief.",
      subagents: ["org/weather", { name: "inline", description: "Inline.", environments: [] }],
      skills: ["writing", skill],
      answer_format: answerFormat,
      tools: [weatherTool],
    };
    for (const definition of [plain, full]) {
      expect((await wire.post("/agents", definition)).status).toBe(201);
    }
    expect(await wire.post("/agents", plain)).toMatchObject({
      status: 409,
      body: { code: "agent_exists" },
    });
    expect((await wire.get("/agents/full")).body).toMatchObject({ name: "full", tools: [weatherTool] });
    const resolved = await wire.get("/agents/full?resolve=true");
    expect(resolved.body.subagents[0]).toMatchObject({
      name: "org/weather",
      description: "Knows the weather.",
    });
    for (const query of ["", "?search=weather&sort=agent_name", "?agent_name=full&size=1&page=1"]) {
      await wire.get(`/agents${query}`);
    }
    const put = await wire.send("PUT", "/agents/org/weather", { body: { ...plain, instructions: "New." } });
    expect(put.body.instructions).toBe("New.");
    const patch = {
      subagents: null,
      skills: null,
      answer_format: null,
      model: null,
      description: "Newer.",
    };
    const patched = await wire.send("PATCH", "/agents/full", { body: patch });
    expect(patched.body).toMatchObject({ description: "Newer.", instructions: "Be brief." });
    const id = await wire.create({ agent: "full", messages: "ask 1", max_steps: 2 });
    await wire.pending(id);
    await wire.look(id);
    expect((await wire.send("DELETE", "/agents/org/weather")).status).toBe(204);
    expect((await wire.get("/agents/org/weather")).status).toBe(404);
  });

  it("were seen for every success that is documented", () => {
    const unseen = contract.listUnseen().filter((reply) => /Agents? 2\d\d$/.test(reply));
    expect(unseen).toEqual([]);
  });
});
