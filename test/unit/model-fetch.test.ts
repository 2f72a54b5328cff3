import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { APICallError } from "@ai-sdk/provider";
import { createModel } from "@tandem/worker/models/create-model";
import { modelFetch } from "@tandem/worker/models/model-fetch";
import { afterEach, describe, expect, it } from "vitest";
import { waitFor } from "../support/wait-for.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return listen(server);
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

const post = (url: string, init: RequestInit = {}) =>
  modelFetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", authorization: "Bearer key" },
    body: '{"ask":"größer?"}',
    ...init,
  });

describe("a request to a model", () => {
  it("carries its body and headers, and gives status, headers and content of the reply", async () => {
    const seen: { text: string; headers: IncomingMessage["headers"] }[] = [];
    const url = await serve(async (request, response) => {
      seen.push({ text: await readText(request), headers: request.headers });
      response.writeHead(429, "Slow down", { "retry-after": "7", "set-cookie": ["a=1", "b=2"] });
      response.end('{"say":"größer"}');
    });
    const response = await post(url);
    expect(seen).toMatchObject([
      {
        text: '{"ask":"größer?"}',
        headers: { "content-type": "application/json", authorization: "Bearer key", "content-length": "19" },
      },
    ]);
    expect(response).toMatchObject({ status: 429, ok: false });
    expect(response.headers.get("retry-after")).toBe("7");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.json()).toEqual({ say: "größer" });
  });

  it("takes a reply without content", async () => {
    const url = await serve(
      (request, response) => void request.resume().on("end", () => response.writeHead(204).end()),
    );
    const response = await post(url);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
  });

  it("takes a large reply", async () => {
    const text = "0123456789".repeat(2_000_000);
    const url = await serve((request, response) => void request.resume().on("end", () => response.end(text)));
    expect((await (await post(url)).text()) === text).toBe(true);
  });

  it("goes the long way when it is more than a post of a text", async () => {
    const url = await serve(async (request, response) => {
      response.end(`${request.method} ${await readText(request)}`);
    });
    expect(await (await modelFetch(url)).text()).toBe("GET ");
    expect(await (await post(url, { body: new TextEncoder().encode("bytes") })).text()).toBe("POST bytes");
    expect(await (await post(url, { body: new URLSearchParams({ a: "1" }) })).text()).toBe("POST a=1");
    await expect(post(url.replace("//", "//user:word@"))).rejects.toThrow(TypeError);
  });
});

describe("a compressed reply of a model", () => {
  const text = JSON.stringify({ words: "größer und ".repeat(1_000) });
  const answer = (coding: string, body: Uint8Array) =>
    serve((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "application/json", "content-encoding": coding }).end(body);
    });

  it.each([
    ["gzip", gzipSync(text)],
    ["br", brotliCompressSync(text)],
    ["deflate", deflateSync(text)],
    ["identity", Buffer.from(text)],
    ["BR, gzip", gzipSync(brotliCompressSync(text))],
  ])("is read when it is %s", async (coding, body) => {
    expect(await (await post(await answer(coding, body))).text()).toBe(text);
  });

  it("is a failed request when it is broken", async () => {
    const failed = post(await answer("gzip", Buffer.from("no gzip at all")));
    await expect(failed).rejects.toMatchObject({ name: "TypeError", message: "fetch failed" });
    await expect(failed).rejects.toHaveProperty("cause.code", "Z_DATA_ERROR");
  });
});

describe("a redirect of a model's provider", () => {
  it.each([307, 308])("is followed with the same post: %i", async (status) => {
    const url = await serve(async (request, response) => {
      const text = await readText(request);
      if (request.url === "/v1") response.writeHead(status, { location: "/v2" }).end();
      else response.end(`${request.method} ${request.url} ${text}`);
    });
    expect(await (await post(url)).text()).toBe('POST /v2 {"ask":"größer?"}');
  });

  it("does not take the key to another origin", async () => {
    const keys: unknown[] = [];
    const other = await serve((request, response) => {
      keys.push(request.headers.authorization);
      request.resume().on("end", () => response.end("there"));
    });
    const url = await serve((request, response) => {
      request.resume();
      response.writeHead(307, { location: other }).end();
    });
    expect(await (await post(url)).text()).toBe("there");
    expect(keys).toEqual([undefined]);
  });
});

describe("an aborted request to a model", () => {
  const reason = new Error("enough");

  it("is not sent when it is aborted before", async () => {
    let requests = 0;
    const url = await serve((_request, response) => void response.end(String(++requests)));
    await expect(post(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await (await post(url)).text();
    expect(requests).toBe(1);
  });

  it.each([
    ["before the reply", false],
    ["in the midst of the reply", true],
  ])("ends with its connection: %s", async (_when, isBegun) => {
    const aborting = new AbortController();
    let isClosed = false;
    const url = await serve((request, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      request.resume().on("end", () => {
        if (!isBegun) return aborting.abort(reason);
        response.write('{"say":', () => setImmediate(() => aborting.abort(reason)));
      });
    });
    await expect(post(url, { signal: aborting.signal })).rejects.toBe(reason);
    await waitFor(async () => isClosed, { what: "the connection's end" });
  });

  it("ends while its connection is not open yet", async () => {
    const aborting = new AbortController();
    // TLS that nobody answers: the connection is never ready.
    const server = createTcpServer((socket) => {
      closers.unshift(async () => socket.destroy());
      socket.once("data", () => aborting.abort(reason)).on("error", () => undefined);
    });
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const url = (await listen(server)).replace("http:", "https:");
    await expect(post(url, { signal: aborting.signal })).rejects.toBe(reason);
  });
});

describe("a broken connection to a model", () => {
  const generate = async (baseUrl: string) =>
    createModel("compatible/m", { compatible: { baseUrl } }).doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });

  it("is an error of the network, whose cause is told, when there is none", async () => {
    const server = createTcpServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    await expect(post(url)).rejects.toMatchObject({
      name: "TypeError",
      message: "fetch failed",
      cause: { code: "ECONNREFUSED" },
    });
    const error = await generate(url).catch((thrown: unknown) => thrown);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ isRetryable: true, message: expect.stringContaining("ECONNREFUSED") });
  });

  it.each([
    ["before the reply", ""],
    ["in the midst of the reply", 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"say":'],
  ])("is one that may be tried again: %s", async (_when, begun) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.end(begun));
    });
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const url = await listen(server);
    await expect(post(url)).rejects.toMatchObject({
      message: "fetch failed",
      cause: { code: "UND_ERR_SOCKET" },
    });
    const error = await generate(url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ isRetryable: true, statusCode: undefined });
    expect(APICallError.isInstance(error)).toBe(true);
  });
});
