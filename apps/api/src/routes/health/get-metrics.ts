import { TandemError } from "@tandem/engine/domain/errors";
import { mayScrape } from "@tandem/engine/telemetry/metrics-token";
import type { ApiContext, App } from "../../context.ts";

/** `GET /metrics`: the process's metrics, for Prometheus. Needs the token when one is set, and never an API key. */
export function getMetricsRoute(app: App, { engine, metricsToken }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/metrics",
    config: { auth: "none" },
    schema: { hide: true },
    async handler(request, reply) {
      if (!mayScrape(request.headers.authorization, metricsToken)) {
        throw new TandemError("unauthorized", "Metrics need the bearer token of TANDEM_METRICS_TOKEN.");
      }
      const { contentType, body } = await engine.telemetry.scrape();
      return reply.type(contentType).send(body);
    },
  });
}
