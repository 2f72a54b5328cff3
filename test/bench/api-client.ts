// The load generator's HTTP: node's own client over connections that are kept, the cheapest there is, so that little of
// what is measured is the client's.
import { Agent, request } from "node:http";

/** One reply, its body as text. */
export interface Reply {
  status: number;
  text: string;
}

/** A client of one API process. */
export interface ApiClient {
  baseUrl: string;
  /** Sends a request to a path of the server and gives whatever comes. Rejects when the connection fails. */
  send(method: string, path: string, body?: string): Promise<Reply>;
  /** Sends to a path below `/api/v2`; the reply's JSON. @throws on a status that is not 2xx */
  call<T>(method: string, path: string, body?: string): Promise<T | null>;
  /** Closes its connections. */
  close(): void;
}

/** Opens connections as they are needed. */
export function createApiClient(baseUrl: string, apiKey: string): ApiClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const { hostname, port } = new URL(baseUrl);
  const authorization = `Bearer ${apiKey}`;
  const send = (method: string, path: string, body?: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string | number> =
        body === undefined
          ? { authorization }
          : {
              authorization,
              "content-type": "application/json",
              "content-length": Buffer.byteLength(body),
            };
      const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
        );
      });
      sent.once("error", reject);
      sent.end(body);
    });
  return {
    baseUrl,
    send,
    async call<T>(method: string, path: string, body?: string) {
      const { status, text } = await send(method, `/api/v2${path}`, body);
      if (status < 200 || status > 299)
        throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 500)}`);
      return text === "" ? null : (JSON.parse(text) as T);
    },
    close: () => agent.destroy(),
  };
}
