import type { App } from "../../context.ts";

/** `GET /openapi.json`: the document of this API. */
export function getOpenApiRoute(app: App): void {
  app.route({
    method: "GET",
    url: "/openapi.json",
    config: { auth: "none" },
    schema: { hide: true },
    handler: async () => app.swagger(),
  });
}
