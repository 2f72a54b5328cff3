// An HTTP proxy that treats requests and replies badly, as networks, load balancers and restarts do.
import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import type { Random } from "./seeded.ts";

/**
 * What is done to a request: `drop` hangs up before the server has it; `lose` when the server has answered; `refuse`
 * answers 502, 503 or 504 in its place; `cut` hangs up within the reply; `halfClose` ends the connection within it, in an
 * orderly way; `delay` holds it back.
 */
export type Fault = "none" | "drop" | "lose" | "refuse" | "cut" | "halfClose" | "delay";

const longestDelayMs = 150;

export interface FaultProxy {
  baseUrl: string;
  /** How often each was done. */
  counts: Record<Fault, number>;
  close(): Promise<void>;
}

/** Starts a proxy to a server. `choose` says what is done to each request. */
export async function startFaultProxy(
  target: string,
  { choose, random }: { choose: (request: IncomingMessage) => Fault; random: Random },
): Promise<FaultProxy> {
  const counts = { none: 0, drop: 0, lose: 0, refuse: 0, cut: 0, halfClose: 0, delay: 0 };
  const server = createServer((request, response) => {
    const fault = choose(request);
    counts[fault] += 1;
    if (fault === "drop") return void response.destroy();
    if (fault === "refuse") return void response.writeHead(random.pick([502, 503, 504])).end("<html>");
    const delayMs = fault === "delay" ? random.integer(1, longestDelayMs) : 0;
    setTimeout(() => forward({ target, request, response, fault, random }), delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    counts,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Exchange {
  target: string;
  request: IncomingMessage;
  response: ServerResponse;
  fault: Fault;
  random: Random;
}

function forward({ target, request, response, fault, random }: Exchange): void {
  const { method, headers, url = "/" } = request;
  const upstream = openRequest(new URL(url, target), { method, headers, agent: false }, (reply) => {
    if (fault === "lose") {
      reply.resume().once("end", () => response.destroy());
      return;
    }
    const { "content-length": _, ...rest } = reply.headers;
    response.writeHead(reply.statusCode ?? 500, rest);
    if (fault === "cut" || fault === "halfClose") spoil({ reply, response, fault, random });
    else reply.pipe(response);
    reply.once("error", () => response.destroy());
  });
  upstream.once("error", () => response.destroy());
  response.once("close", () => upstream.destroy());
  request.pipe(upstream);
}

/** Lets a part of the reply through. */
function spoil({
  reply,
  response,
  fault,
  random,
}: Pick<Exchange, "response" | "fault" | "random"> & { reply: IncomingMessage }): void {
  reply.once("data", (chunk: Buffer) => {
    response.write(chunk.subarray(0, random.integer(0, chunk.length - 1)), () => {
      if (fault === "cut") response.destroy();
      else response.socket?.end();
    });
    reply.destroy();
  });
  reply.once("end", () => response.destroy());
}
