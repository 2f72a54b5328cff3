// An image that the provider does not take stays in the history, and stands in nobody's way there.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ModelScript, oneToolThenAnswer } from "../support/fake-model-server.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { createWire, type PendingCall, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const BROKEN = "https://images.example/gone.png";
const NOTE = "An image was left out: the model's provider refused";
const answer = oneToolThenAnswer("get_weather", { city: "Paris" });
const script: ModelScript = (request, index) =>
  JSON.stringify(request.body.messages).includes(BROKEN)
    ? { status: 400, body: { error: { message: "The image cannot be downloaded." } } }
    : answer(request, index);

let stack: TestStack;
let wire: Wire;
beforeAll(async () => {
  stack = await startStack({ script });
  wire = createWire(stack.baseUrl, apiKey);
});
afterAll(() => stack.close());

it.each([false, true])(
  "a session goes on behind an image that its provider refuses, streamed: %s",
  async (stream) => {
    const id = await wire.create({
      agent: { name: "x", model: "compatible/fake", tools: [weatherTool] },
      ...{ messages: "Look.", idle_timeout_s: 600, stream },
    });
    await wire.until(id, "awaiting_tool_results");
    const [call] = (await wire.pending(id)) as [PendingCall];
    await wire.post(`/sessions/${id}/tool_results`, resultFor(call, { text: "A storm.", images: [BROKEN] }));
    expect((await wire.until(id, "idle")).answer).toContain(NOTE);
    const { body } = await wire.get(`/sessions/${id}/changes`);
    expect(
      body.new_events.filter(({ data }: { data: { kind: string } }) => data.kind === "error_event"),
    ).toEqual([]);
    expect(JSON.stringify(body.new_events)).toContain(BROKEN);
  },
);
