// A provider that refuses a request because of an image in the history is asked again without any, on each wire.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { ClaimedStep } from "@tandem/engine/commands/claim-step";
import { messageEvent, type NewEvent, policyEvent, toolResult } from "@tandem/engine/domain/events";
import { NO_TOOL_HISTORY } from "@tandem/engine/domain/tool-history";
import { isRefusal } from "@tandem/worker/agent/model-errors";
import { type AskContext, askModel } from "@tandem/worker/ask-model";
import { createModel } from "@tandem/worker/models/create-model";
import pino from "pino";
import { afterEach, describe, expect, it } from "vitest";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const URL_OF_IMAGE = "https://images.example/radar.png";
const NOTE = "An image was left out: the model's provider refused";

const usage = { input_tokens: 1, output_tokens: 1 };
const wires: Record<string, { model: (baseUrl: string) => LanguageModelV3; refusal: object; reply: object }> =
  {
    openai: {
      model: (baseUrl) => createModel("openai/gpt-5", { openai: { apiKey: "key", baseUrl } }),
      refusal: { error: { message: "Error while downloading.", type: "invalid_request_error" } },
      reply: {
        ...{ id: "r", created_at: 1, model: "gpt-5", usage },
        output: [
          {
            ...{ type: "message", role: "assistant", id: "m" },
            content: [{ type: "output_text", text: "Seen.", annotations: [] }],
          },
        ],
      },
    },
    anthropic: {
      model: (baseUrl) =>
        createModel("anthropic/claude-sonnet-4-5", { anthropic: { apiKey: "key", baseUrl } }),
      refusal: {
        type: "error",
        error: { type: "invalid_request_error", message: "Could not process image" },
      },
      reply: {
        ...{ type: "message", role: "assistant", id: "m", model: "claude", stop_reason: "end_turn", usage },
        content: [{ type: "text", text: "Seen." }],
      },
    },
    google: {
      model: (baseURL) => createGoogleGenerativeAI({ apiKey: "key", baseURL })("gemini-2.5-flash"),
      refusal: {
        error: { code: 400, message: "Unable to process input image.", status: "INVALID_ARGUMENT" },
      },
      reply: {
        candidates: [{ content: { role: "model", parts: [{ text: "Seen." }] }, finishReason: "STOP" }],
      },
    },
    compatible: {
      model: (baseUrl) => createModel("compatible/fake", { compatible: { apiKey: "key", baseUrl } }),
      refusal: { error: { message: "cannot identify image file", type: "BadRequestError" } },
      reply: {
        ...{ id: "c", created: 1, model: "fake" },
        choices: [{ index: 0, message: { role: "assistant", content: "Seen." }, finish_reason: "stop" }],
      },
    },
  };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A provider that refuses what has an image, or everything. */
async function startProvider(
  status: number,
  { refusal, reply }: { refusal: object; reply: object },
  isStubborn = false,
) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    bodies.push(body);
    const isRefused = isStubborn || body.includes(PNG) || body.includes(URL_OF_IMAGE);
    response.writeHead(isRefused ? status : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isRefused ? refusal : reply));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { bodies, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const message = (images: string[]) =>
  messageEvent({ type: "user_message", message: "Look.", images, caller_id: "user" });
const call = { tool_name: "look", args: {}, id: "call_a" };
const turn = policyEvent(
  { content: null, reasoning_content: null, tool_reqs: [call], validation_errors: [] },
  { content: [{ type: "tool-call", call_id: "call_a", toolCallId: "call_a", toolName: "look", input: {} }] },
);
const looked = (images: string[]) =>
  toolResult({
    ...{ tool_req: call, truncated: false, output_artifact_path: null },
    result: { text: "A storm.", images },
  });
const ofMessage = [message([`data:image/png;base64,${PNG}`])];
const ofResult = [message([]), turn, looked([`data:image/png;base64,${PNG}`])];
const ofUrl = [message([]), turn, looked([URL_OF_IMAGE])];
const ofNone = [message([]), turn, looked([])];

function ask(provider: string, model: LanguageModelV3, events: NewEvent[], stream = false) {
  const context: AskContext = {
    engine: { wake: { tell: () => undefined }, log: pino({ level: "silent" }) },
    config: { modelTimeoutS: 10 },
    modelOf: () => model,
    watched: { isWatched: () => false, follow: () => () => undefined, close: () => undefined },
    watch: { requestLeaves: () => undefined },
  };
  const agent = { name: "x", description: "x", environments: [], model: `${provider}/x`, stream };
  const session = { id: "s", agent, tools: [], runSteps: 1, steps: 1, fence: 1 };
  const history = {
    events: events.map((event, index) => ({ index, internal: null, ...event })),
    tools: NO_TOOL_HISTORY,
  };
  return askModel(
    context,
    session as unknown as ClaimedStep["session"],
    history,
    new AbortController().signal,
  );
}

const places = { "a message": ofMessage, "a result": ofResult, "a URL": ofUrl };
const cases = Object.keys(wires).flatMap((provider) =>
  Object.keys(places).flatMap((place) => [false, true].map((stream) => ({ provider, place, stream }))),
);

describe("a request that is refused with its images is made again without them", () => {
  it.each(cases)(
    "$provider, the image of $place, as a stream: $stream",
    async ({ provider, place, stream }) => {
      const wire = wires[provider] as (typeof wires)[string];
      const { bodies, baseUrl } = await startProvider(400, wire);
      const events = places[place as keyof typeof places];
      const { content } = await ask(provider, wire.model(baseUrl), events, stream);
      expect(content).toMatchObject([{ type: "text", text: "Seen." }]);
      const [first = "", ...others] = bodies;
      expect(first).not.toContain(NOTE);
      // Where a whole reply comes in place of a stream, it is asked for as such.
      expect(others).toHaveLength(stream ? 2 : 1);
      for (const other of others) {
        expect(other).toContain(NOTE);
        expect(other).toContain("Look.");
        if (place !== "a message") expect(other).toContain("A storm.");
      }
    },
  );

  it.each([400, 413, 415, 422])("with the status %i", async (status) => {
    const wire = wires.compatible as (typeof wires)[string];
    const { bodies, baseUrl } = await startProvider(status, wire);
    await ask("compatible", wire.model(baseUrl), ofResult);
    expect(bodies).toHaveLength(2);
  });

  it("once: what is refused without images too is refused", async () => {
    const wire = wires.compatible as (typeof wires)[string];
    const { bodies, baseUrl } = await startProvider(400, wire, true);
    await expect(ask("compatible", wire.model(baseUrl), ofResult)).rejects.toSatisfy(isRefusal);
    expect(bodies).toHaveLength(2);
  });
});

it("a request is not made again when it has no images, or when its fault is another", async () => {
  const wire = wires.compatible as (typeof wires)[string];
  for (const [status, events] of [
    [400, ofNone],
    [401, ofResult],
    [429, ofResult],
    [500, ofResult],
  ] as const) {
    const { bodies, baseUrl } = await startProvider(status, wire, true);
    await expect(ask("compatible", wire.model(baseUrl), [...events])).rejects.toMatchObject({
      statusCode: status,
    });
    expect(bodies).toHaveLength(1);
  }
});
