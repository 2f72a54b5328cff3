// The one door of a worker process: its metrics, and that it is alive. It is shut unless a setting opens it.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { mayScrape } from "@tandem/engine/telemetry/metrics-token";
import type { Telemetry } from "@tandem/engine/telemetry/telemetry";
import type { Logger } from "pino";
import type { WorkerConfig } from "./config.ts";

/** A listener, or nothing when there is none to be. */
export interface ScrapeListener {
  /** Where it listens; null when it does not. */
  url: string | null;
  close(): Promise<void>;
}

/** Most connections at once; scrapers need one each. */
const MAX_CONNECTIONS = 50;

/** Opens the listener, when the settings say where. */
export async function listenForScrapes(
  telemetry: Telemetry,
  { metricsAddress, metricsToken }: Pick<WorkerConfig, "metricsAddress" | "metricsToken">,
  log: Logger,
): Promise<ScrapeListener> {
  if (!metricsAddress) return { url: null, close: async () => undefined };
  const { host, port } = metricsAddress;
  const server = createServer(answerScrapes(telemetry, metricsToken, log));
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`;
  log.info(`metrics are at ${url}/metrics`);
  return {
    url,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answerScrapes(telemetry: Telemetry, token: string | undefined, log: Logger): RequestListener {
  return (request, response) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const path = isRead ? request.url?.split("?")[0] : undefined;
    const answer = (status: number, text: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers });
      response.end(text);
    };
    if (path === "/healthz") return answer(200, "ok\n");
    if (path !== "/metrics") return answer(404, "Here are /metrics and /healthz.\n");
    if (!mayScrape(request.headers.authorization, token)) {
      return answer(401, "A bearer token is needed.\n", { "www-authenticate": "Bearer" });
    }
    telemetry.scrape().then(
      ({ contentType, body }) => answer(200, body, { "content-type": contentType }),
      (error: unknown) => {
        log.error({ err: error }, "metrics could not be read");
        answer(500, "The metrics could not be read; the log says why.\n");
      },
    );
  };
}
