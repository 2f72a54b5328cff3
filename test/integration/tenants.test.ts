import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack;
let mine: Wire;
let foreign: Wire;
let foreignAdmin: Wire;

beforeAll(async () => {
  stack = await startStack({ script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
  mine = createWire(stack.baseUrl, apiKey);
  foreign = createWire(stack.baseUrl, await stack.addOrganization("acme"));
  foreignAdmin = createWire(stack.baseUrl, await stack.addKey({ organization: "acme", isAdmin: true }));
});
afterAll(() => stack.close());

it("a foreign id is 404 on every route of the document, for every verb, and changes nothing", async () => {
  const id = await mine.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  await mine.until(id, "awaiting_tool_results");
  const [call] = await mine.pending(id);
  await mine.post("/agents", { name: "secret", description: "d", environments: [] });

  const other = createWire(stack.baseUrl, await stack.addOrganization("other"));
  const theirs = await other.create({ agent: { name: "y" } });
  const { token } = (await other.post(`/sessions/${theirs}/tokens`, { expires_in_s: 60 })).body;
  const foreignToken = createWire(stack.baseUrl, token);
  const bodies: Record<string, unknown> = {
    sendMessage: { message: "hi" },
    submitToolResults: resultFor(call as PendingCall, 1),
    replaceAgent: { name: "secret", description: "e", environments: [] },
    updateAgent: { description: "e" },
    submitSessionFeedback: { success: false },
    submitEventFeedback: { success: false },
    createSessionToken: { expires_in_s: 60 },
    claimToolCall: { claimant: "thief", lease_s: 60 },
    reportToolProgress: { progress: 1 },
    submitApprovals: { call_id: call?.id, decision: "allow" },
    replaceSessionTools: { tools: [] },
  };
  const { share_url: link } = (await mine.post(`/sessions/${id}/share`, undefined)).body;
  const document = JSON.parse(await readFile(new URL("../../openapi/openapi.json", import.meta.url), "utf8"));
  const operations = Object.entries(
    document.paths as Record<string, Record<string, { operationId: string }>>,
  ).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
  );
  const targeted = operations.filter(({ path }) => path.includes("{"));
  expect(targeted.length).toBeGreaterThanOrEqual(23);
  const myKey = (await foreignAdmin.get("/keys?organization=default")).body.items[0];
  for (const { path, method, operationId } of targeted) {
    const isOfKeys = path.includes("/keys/");
    const known = {
      id: isOfKeys ? myKey.id : id,
      agent_name: "secret",
      event_index: "0",
      token: id,
      call_id: (call as PendingCall).id,
    };
    const url = Object.entries(known).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
    const body = bodies[operationId];
    // An admin key reaches the keys of all, and the sessions and agents of its own organization alone.
    for (const wire of isOfKeys ? [foreign, mine] : [foreign, foreignAdmin, foreignToken]) {
      const reply = await wire.send(method.toUpperCase(), url, body === undefined ? {} : { body });
      // A token reaches no agents at all.
      if (wire === foreignToken && path.includes("{agent_name}")) {
        expect([path, reply.status, reply.body.code]).toEqual([path, 403, "token_scope"]);
        continue;
      }
      expect(reply.status, `${method} ${path}`).toBe(404);
      expect(reply.body.code).toMatch(/_not_found$/);
    }
  }
  expect((await foreignAdmin.get("/keys?organization=default")).body.items).toMatchObject([
    { id: myKey.id, revoked_at: null },
  ]);
  expect((await mine.get(`/sessions/${id}/status`)).body.status).toBe("awaiting_tool_results");
  expect((await mine.get(`/sessions/${id}/tool_calls`)).body.items).toMatchObject([{ claimant: null }]);
  expect((await mine.get("/agents/secret")).body.description).toBe("d");
  expect((await mine.get(`/sessions/${id}/feedback`)).body.items).toEqual([]);
  expect((await mine.post(`/sessions/${id}/share`, undefined)).body.share_url).toBe(link);
});

it("lists show nothing of others", async () => {
  for (const wire of [foreign, foreignAdmin]) {
    for (const owner of ["me", "me-in-organization", "organization", "me-or-organization"]) {
      const { body } = await wire.get(`/sessions?owner=${owner}`);
      expect(body).toMatchObject({ items: [], total: 0 });
    }
    const agents = await wire.get("/agents");
    expect(agents.body.items.map((agent: { name: string }) => agent.name)).toEqual(["tandem/assistant"]);
  }
  const id = await mine.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  await mine.until(id, "awaiting_tool_results");
  for (const wire of [foreign, foreignAdmin]) {
    for (const owner of ["me", "me-in-organization", "organization", "me-or-organization"]) {
      const { body } = await wire.get(`/tool_calls?tools=${weatherTool.name}&owner=${owner}`);
      expect(body).toEqual({ items: [] });
    }
  }
  expect((await mine.get(`/tool_calls?tools=${weatherTool.name}`)).body.items).not.toEqual([]);
  const keys = await foreign.get("/keys");
  expect(keys).toMatchObject({ status: 403, body: { code: "admin_required" } });
  expect(keys.body.items).toBeUndefined();
});

it("a list of sessions is of the key's user, or of its whole organization, as its owner says", async () => {
  const start = async (organization: string, user: string) => {
    const wire = createWire(stack.baseUrl, await stack.addKey({ organization, user }));
    return { wire, id: await wire.create({ agent: "tandem/assistant" }) };
  };
  const ann = await start("shop", "ann");
  const bob = await start("shop", "bob");
  await start("other shop", "ann");
  const annAgain = createWire(stack.baseUrl, await stack.addKey({ organization: "shop", user: "ann" }));
  const list = async (wire: Wire, query: string) =>
    (await wire.get(`/sessions?sort=created_at${query}`)).body.items.map((item: { id: string }) => item.id);
  for (const query of ["", "&owner=me", "&owner=me-in-organization"]) {
    expect([query, await list(ann.wire, query)]).toEqual([query, [ann.id]]);
    expect([query, await list(annAgain, query)]).toEqual([query, [ann.id]]);
    expect([query, await list(bob.wire, query)]).toEqual([query, [bob.id]]);
  }
  for (const query of ["&owner=organization", "&owner=me-or-organization"]) {
    expect([query, await list(ann.wire, query)]).toEqual([query, [ann.id, bob.id]]);
    expect([query, await list(bob.wire, query)]).toEqual([query, [ann.id, bob.id]]);
  }
  expect((await bob.wire.get(`/sessions/${ann.id}`)).status).toBe(200);
});

it("an agent of another organization cannot be run by name", async () => {
  const reply = await foreign.post("/sessions", { agent: "secret", messages: "Hi" });
  expect(reply.status).toBe(404);
  expect(reply.body.code).toBe("agent_not_found");
});
