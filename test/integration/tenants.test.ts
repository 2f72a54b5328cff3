import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

let stack: TestStack;
let mine: Wire;
let foreign: Wire;

beforeAll(async () => {
  stack = await startStack({ script: oneToolThenAnswer("get_weather", { city: "Paris" }) });
  mine = createWire(stack.baseUrl, apiKey);
  foreign = createWire(stack.baseUrl, await stack.addOrganization("acme"));
});
afterAll(() => stack.close());

it("a foreign id is 404 on every route of the document, for every verb, and changes nothing", async () => {
  const id = await mine.create({ agent: { name: "x", tools: [weatherTool] }, messages: "Weather?" });
  await mine.until(id, "awaiting_tool_results");
  const [call] = await mine.pending(id);
  await mine.post("/agents", { name: "secret", description: "d", environments: [] });

  const bodies: Record<string, unknown> = {
    sendMessage: { message: "hi" },
    submitToolResults: resultFor(call as PendingCall, 1),
    replaceAgent: { name: "secret", description: "e", environments: [] },
    updateAgent: { description: "e" },
    submitSessionFeedback: { success: false },
    submitEventFeedback: { success: false },
  };
  const { share_url: link } = (await mine.post(`/sessions/${id}/share`, undefined)).body;
  const document = JSON.parse(await readFile(new URL("../../openapi/openapi.json", import.meta.url), "utf8"));
  const operations = Object.entries(
    document.paths as Record<string, Record<string, { operationId: string }>>,
  ).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
  );
  const targeted = operations.filter(({ path }) => path.includes("{"));
  expect(targeted.length).toBeGreaterThanOrEqual(19);
  for (const { path, method, operationId } of targeted) {
    const known = { id, agent_name: "secret", event_index: "0", token: id };
    const url = Object.entries(known).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
    const body = bodies[operationId];
    const reply = await foreign.send(method.toUpperCase(), url, body === undefined ? {} : { body });
    expect(reply.status, `${method} ${path}`).toBe(404);
    expect(reply.body.code).toMatch(/_not_found$/);
  }
  expect((await mine.get(`/sessions/${id}/status`)).body.status).toBe("awaiting_tool_results");
  expect((await mine.get("/agents/secret")).body.description).toBe("d");
  expect((await mine.get(`/sessions/${id}/feedback`)).body.items).toEqual([]);
  expect((await mine.post(`/sessions/${id}/share`, undefined)).body.share_url).toBe(link);
});

it("lists show nothing of others", async () => {
  expect((await foreign.get("/sessions?owner=organization")).body).toMatchObject({ items: [], total: 0 });
  const agents = await foreign.get("/agents");
  expect(agents.body.items.map((agent: { name: string }) => agent.name)).toEqual(["tandem/assistant"]);
});

it("an agent of another organization cannot be run by name", async () => {
  const reply = await foreign.post("/sessions", { agent: "secret", messages: "Hi" });
  expect(reply.status).toBe(404);
  expect(reply.body.code).toBe("agent_not_found");
});
