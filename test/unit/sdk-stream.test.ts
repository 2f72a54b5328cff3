// The stream of a session, against a scripted server: order, reconnects, what there is where nothing streams.
import { type SessionStream, type StreamItem, TandemClient, type Tool, tool } from "@tandem/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TandemApi } from "../../apps/sdk/src/generated/sdk.gen.ts";
import { createSend, openReply } from "../../apps/sdk/src/http.ts";
import { readStream } from "../../apps/sdk/src/read-stream.ts";
import { toSettings } from "../../apps/sdk/src/settings.ts";
import { StepTexts } from "../../apps/sdk/src/stream-deltas.ts";
import {
  type FakeTandemServer,
  fakeCall,
  fakeSessionId,
  replyOnce,
  startFakeTandemServer,
} from "../support/fake-tandem-server.ts";
import { waitFor } from "../support/wait-for.ts";

let server: FakeTandemServer;
let client: TandemClient;

beforeEach(async () => {
  server = await startFakeTandemServer();
  server.streams.isOn = true;
  client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key" });
});
afterEach(() => server.close());

const busy = (status: number) => ({ status, headers: { "retry-after": "0" } });
const makeTool = (name: string, fn: Tool<never>["fn"]): Tool => tool({ name, description: name, fn });
const start = (options: Partial<Parameters<TandemClient["streamSession"]>[0]> = {}) =>
  client.streamSession({ agent: "tandem/assistant", messages: "Hello", ...options });
const untilStreamed = () => waitFor(() => server.streams.size === 1, { what: "an open stream" });
const streamRequests = () => server.requestsTo("GET", "/stream");
const happen = () => server.append({ type: "RequestStartEvent", data: {} });

/** Takes down what a stream gives. */
function watch(stream: SessionStream<unknown>) {
  const items: StreamItem[] = [];
  const done = (async () => {
    for await (const item of stream) items.push(item);
    return stream.result;
  })();
  done.catch(() => {});
  const until = (count: number) => waitFor(() => items.length >= count, { what: `item ${count}` });
  const text = () => items.map((item) => (item.type === "delta" ? item.text : "")).join("");
  const types = () => items.map(({ type }) => type);
  return { items, done, until, text, types };
}

describe("a stream", () => {
  it("gives events and text in the order in which they came, and then the result", async () => {
    const { done, until, types, items } = watch(start());
    await untilStreamed();
    happen();
    await until(1);
    server.streams.delta(1, 0, "Hel");
    server.streams.delta(1, 3, "lo.");
    await until(3);
    server.answer("Hello.");
    const result = await done;
    expect(types()).toEqual(["RequestStartEvent", "delta", "delta", "AgentEvent", "AgentCompletionEvent"]);
    expect(items[2]).toEqual({ type: "delta", step: 1, offset: 3, text: "lo." });
    expect(result).toMatchObject({ status: "completed", answer: "Hello." });
    expect(result.events).toEqual(items.filter(({ type }) => type !== "delta"));
    expect(server.requestsTo("GET", "/changes")).toEqual([]);
  });

  it("asks for the model's text when it starts the session, unless it is to be left out", async () => {
    server.answer("Hi.");
    await start().result;
    await start({ deltas: false }).result;
    const bodies = server.requestsTo("POST", "/sessions").map(({ body }) => body.stream);
    expect(bodies).toEqual([true, undefined]);
  });

  it("leaves the model's text out when it is told to", async () => {
    const { done, types } = watch(start({ deltas: false }));
    await untilStreamed();
    server.streams.delta(1, 0, "Hello.");
    server.answer("Hello.");
    await done;
    expect(types()).toEqual(["AgentEvent", "AgentCompletionEvent"]);
  });

  it("runs tools like any other wait", async () => {
    server.call(fakeCall("ping"));
    const { done } = watch(start({ tools: [makeTool("ping", () => "pong")] }));
    expect(await done).toMatchObject({ answer: "Done." });
    expect(server.results).toMatchObject([{ result: "pong" }]);
  });

  it("goes on without a loop, and gives its result", async () => {
    server.call(fakeCall("ping"));
    expect(await start({ tools: [makeTool("ping", () => "pong")] }).result).toMatchObject({
      answer: "Done.",
    });
  });

  it("joins a session that exists, and gives its handle", async () => {
    happen();
    server.answer("Hi.");
    const stream = client.session(fakeSessionId).stream();
    const { done, types } = watch(stream);
    expect(await done).toMatchObject({ answer: "Hi." });
    expect(types()).toEqual(["RequestStartEvent", "AgentEvent", "AgentCompletionEvent"]);
    expect((await stream.session).id).toBe(fakeSessionId);
  });

  it("of a turn that is over gives its result at once", async () => {
    server.answer("Hi.");
    const session = client.session(fakeSessionId);
    await session.waitForCompletion();
    const { done, items } = watch(session.stream({ timeoutMs: 5_000 }));
    expect(await done).toMatchObject({ answer: "Hi.", events: [] });
    expect(items).toEqual([]);
  });

  it("ends when its loop is left, aborts the handlers, and lets the session go on", async () => {
    let signal: AbortSignal | undefined;
    server.call(fakeCall("hang"));
    const hang = makeTool("hang", (_, context) => {
      signal = context.signal;
      return new Promise(() => {});
    });
    const stream = start({ tools: [hang] });
    for await (const _ of stream) {
      await waitFor(() => signal, { what: "the call" });
      break;
    }
    expect(signal?.aborted).toBe(true);
    await expect(stream.result).rejects.toThrow("left before its end");
    await waitFor(() => server.streams.size === 0, { what: "the end of the connection" });
    expect(server.requestsTo("DELETE", fakeSessionId)).toEqual([]);
  });

  it("cancels the session when its loop is left, where it is told to", async () => {
    happen();
    for await (const _ of start({ cancelOnAbort: true })) break;
    expect(server.requestsTo("DELETE", fakeSessionId)).toHaveLength(1);
  });

  it("throws in its loop what ends the wait, after what came before", async () => {
    happen();
    const { done, items, until } = watch(start({ timeoutMs: 500 }));
    await until(1);
    await expect(done).rejects.toMatchObject({ name: "TimeoutError", sessionId: fakeSessionId });
    expect(items).toHaveLength(1);
  });

  it("throws in its loop that the session could not be started", async () => {
    server.intercept = replyOnce("POST", "/sessions", { status: 401, body: { detail: "Unknown key." } });
    await expect(watch(start()).done).rejects.toThrow("Unknown key.");
  });

  it("ends with the reason of an aborted signal", async () => {
    const controller = new AbortController();
    const { done } = watch(start({ signal: controller.signal }));
    await untilStreamed();
    controller.abort(new Error("Enough"));
    await expect(done).rejects.toThrow("Enough");
  });

  it("can be looped over once", async () => {
    server.answer("Hi.");
    const stream = start();
    await watch(stream).done;
    await expect(watch(stream).done).rejects.toThrow("looped over once");
  });
});

describe("a stream that breaks off", () => {
  it.each([true, false])(
    "is resumed behind the last event, and gives none twice (broken: %s)",
    async (isBroken) => {
      const { done, until, types } = watch(start());
      await untilStreamed();
      happen();
      await until(1);
      server.streams.end({ isBroken });
      await waitFor(() => streamRequests().length === 2, { what: "the second connection" });
      happen();
      server.answer("Hi.");
      await done;
      expect(types()).toEqual([
        "RequestStartEvent",
        "RequestStartEvent",
        "AgentEvent",
        "AgentCompletionEvent",
      ]);
      expect(streamRequests()[1]?.query.get("from_index")).toBe("1");
    },
  );

  it("within a frame loses nothing", async () => {
    const { done, until, types } = watch(start());
    await untilStreamed();
    happen();
    await until(1);
    server.streams.write('id: 1\ndata: {"type":"RequestSta');
    server.streams.end({ isBroken: true });
    await waitFor(() => streamRequests().length === 2, { what: "the second connection" });
    server.answer("Hi.");
    await done;
    expect(types()).toEqual(["RequestStartEvent", "AgentEvent", "AgentCompletionEvent"]);
  });

  it("gives text that is told again only once", async () => {
    const { done, until, text } = watch(start());
    await untilStreamed();
    happen();
    server.streams.delta(1, 0, "Once upon ");
    await until(2);
    server.streams.end({ isBroken: true });
    await waitFor(() => streamRequests().length === 2 && server.streams.size === 1, { what: "the next one" });
    server.streams.delta(1, 0, "Once upon a ti");
    server.streams.delta(1, 14, "me");
    await until(4);
    expect(text()).toBe("Once upon a time");
    server.answer("Once upon a time");
    await done;
  });

  it("is opened again as long as it brings text", async () => {
    const { done, text } = watch(start());
    for (let part = 1; part <= 8; part++) {
      await waitFor(() => streamRequests().length === part && server.streams.size === 1, {
        what: `connection ${part}`,
      });
      server.streams.delta(1, 0, "word ".repeat(part));
      await waitFor(() => text() === "word ".repeat(part), { what: `word ${part}` });
      server.streams.end({ isBroken: true });
    }
    server.answer("Hi.");
    await done;
    expect(server.requestsTo("GET", "/changes")).toEqual([]);
  });

  it("tells that the text of a request made again begins anew", async () => {
    const { done, until, items } = watch(start());
    await untilStreamed();
    server.streams.delta(1, 0, "Once");
    await until(1);
    server.streams.end({ isBroken: true });
    await waitFor(() => streamRequests().length === 2 && server.streams.size === 1, { what: "the next one" });
    server.streams.delta(1, 0, "There was");
    await until(2);
    expect(items.slice(1)).toEqual([{ type: "delta", step: 1, offset: 0, text: "There was" }]);
    server.answer("Hi.");
    await done;
  });

  it.each(["disconnect", "502", "503", "504", "429"])(
    "at its beginning (%s) is opened again",
    async (fault) => {
      const failure = fault === "disconnect" ? "disconnect" : busy(Number(fault));
      server.intercept = replyOnce("GET", "/stream", failure, failure);
      server.answer("Hi.");
      expect(await start().result).toMatchObject({ answer: "Hi." });
      expect(streamRequests()).toHaveLength(3);
      expect(server.requestsTo("GET", "/changes")).toEqual([]);
    },
  );

  it("each time is left to polls, which tell that the server stays out of reach", async () => {
    client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key", maxRetries: 0 });
    const { done } = watch(start());
    await untilStreamed();
    server.intercept = () => busy(503);
    server.streams.end({ isBroken: true });
    await expect(done).rejects.toMatchObject({ name: "APIError", status: 503 });
  });

  it("is not opened again when the server refuses it", async () => {
    const reply = { status: 404, body: { detail: "There is no session.", code: "session_not_found" } };
    server.intercept = replyOnce("GET", "/stream", reply);
    await expect(start().result).rejects.toMatchObject({ name: "APIError", code: "session_not_found" });
    expect(streamRequests()).toHaveLength(1);
  });
});

describe("events of a stream", () => {
  it("that come twice are given once", async () => {
    const { done, until, types } = watch(start());
    await untilStreamed();
    happen();
    await until(1);
    server.streams.write('id: 0\ndata: {"type":"RequestStartEvent","data":{}}\n\n');
    server.answer("Hi.");
    await done;
    expect(types()).toEqual(["RequestStartEvent", "AgentEvent", "AgentCompletionEvent"]);
  });

  it("that are missing are read from a new connection", async () => {
    const { done, types } = watch(start());
    await untilStreamed();
    server.streams.write('id: 5\ndata: {"type":"RequestStartEvent","data":{}}\n\n');
    await waitFor(() => streamRequests().length === 2, { what: "the second connection" });
    server.answer("Hi.");
    await done;
    expect(types()).toEqual(["AgentEvent", "AgentCompletionEvent"]);
  });

  it.each(["\r\n", "\r"])("may come in lines that end with %j", async (lineEnd) => {
    server.streams.lineEnd = lineEnd;
    server.answer("Grüße 🌍");
    expect(await start().result).toMatchObject({ answer: "Grüße 🌍" });
  });
});

describe("without a stream", () => {
  it.each([
    ["the server has none", () => ({ status: 404, body: { detail: "No.", code: "not_found" } })],
    ["a proxy knows none", () => ({ status: 404, text: "<html>" })],
    [
      "a page comes in its place",
      () => ({ status: 200, text: "<html>", headers: { "content-type": "text/html" } }),
    ],
  ])("events come by polls, in the same order: %s", async (_, reply) => {
    server.intercept = ({ path }) => (path.endsWith("/stream") ? reply() : undefined);
    server.call(fakeCall("ping"));
    const { done, types } = watch(start({ tools: [makeTool("ping", () => "pong")] }));
    expect(await done).toMatchObject({ answer: "Done." });
    expect(types()).toEqual(["ActiveStateChangeEvent", "AgentEvent", "AgentCompletionEvent"]);
    expect(streamRequests()).toHaveLength(1);
  });

  /** Reads a stream that is given up after so little silence. */
  const read = async (silenceMs: number) => {
    const settings = toSettings({ baseUrl: server.baseUrl, apiKey: "key" });
    const reader = readStream({
      api: new TandemApi(createSend(settings)),
      openReply: (operation) => openReply(operation, settings),
      sessionId: fakeSessionId,
      fromIndex: 0,
      waitForSeconds: 5,
      signal: new AbortController().signal,
      silenceMs,
      texts: new StepTexts(),
    });
    const types: string[] = [];
    for await (const item of reader) {
      if ("type" in item) continue;
      types.push(...item.events.map(({ type }) => type));
      if (item.state?.status === "completed") return types;
    }
  };

  it.each([
    ["the reply", "hang" as const],
    [
      "its body",
      (response: import("node:http").ServerResponse) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      },
    ],
  ])("since a proxy holds back %s, polls take over", async (_, reply) => {
    server.intercept = ({ path }) => (path.endsWith("/stream") ? reply : undefined);
    happen();
    server.answer("Hi.");
    expect(await read(300)).toEqual(["RequestStartEvent", "AgentEvent", "AgentCompletionEvent"]);
    expect(streamRequests()).toHaveLength(1);
  });

  it("that went silent after it had spoken, a new one is opened", async () => {
    happen();
    const reading = read(300);
    await waitFor(() => streamRequests().length === 2 && server.streams.size > 0, { what: "the second one" });
    server.answer("Hi.");
    expect(await reading).toEqual(["RequestStartEvent", "AgentEvent", "AgentCompletionEvent"]);
    expect(server.requestsTo("GET", "/changes")).toEqual([]);
  });
});
