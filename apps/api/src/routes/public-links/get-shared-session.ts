import { Type } from "@sinclair/typebox";
import { getShared } from "@tandem/engine/queries/get-shared";
import { getEventPage, getStatus } from "@tandem/engine/queries/sessions";
import type { ApiContext, App } from "../../context.ts";
import { publicErrorsOf } from "../../schemas/errors.ts";
import { pageQuery } from "../../schemas/params.ts";
import { toSessionStatus } from "../../schemas/sessions.ts";
import { SharedParams, SharedSession } from "../../schemas/sharing.ts";
import { ref } from "../../schemas/typebox.ts";
import { prefersHtml } from "../../sharing/prefers-html.ts";
import { addPublicHeaders } from "../../sharing/public-headers.ts";
import { MAX_TEXT, PAGE_POLICY, toSharedPage } from "../../sharing/shared-page.ts";
import { toSharedUrl } from "../../sharing/shared-url.ts";

/** Events on one page for people. */
const PAGE_SIZE = 50;

const { page } = pageQuery({ default: PAGE_SIZE, max: PAGE_SIZE });
const Query = Type.Object({
  page: { ...page, description: "Which page of the events the HTML shows, from 1." },
});

/** `GET /shared/{token}`: where a public link leads. A page for people, and JSON for everybody else. */
export function getSharedSessionRoute(app: App, { engine, publicUrl }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/shared/:token",
    config: { auth: "none" },
    onRequest: addPublicHeaders,
    schema: {
      operationId: "getSharedSession",
      tags: ["shared"],
      summary: "Open a shared session",
      description:
        "JSON, or a page of the events for whoever's `Accept` prefers `text/html`, as browsers do.",
      security: [],
      params: SharedParams,
      querystring: Query,
      response: {
        200: {
          description: "The session's status, and where its events are.",
          content: {
            "application/json": { schema: ref(SharedSession) },
            "text/html": { schema: Type.String() },
          },
        },
        ...publicErrorsOf(404, 422),
      },
    },
    async handler(request, reply) {
      const { token } = request.params;
      const key = await getShared(engine, token);
      const status = await getStatus(engine, key);
      if (!prefersHtml(request.headers.accept)) {
        const url = `${toSharedUrl(request, publicUrl)}/${token}`;
        return { status: toSessionStatus(status), status_url: `${url}/status`, events_url: `${url}/events` };
      }
      const { page } = request.query;
      const offset = (page - 1) * PAGE_SIZE;
      const range = { type: null, newestFirst: false, offset, limit: PAGE_SIZE, maxCharacters: MAX_TEXT };
      const events = await getEventPage(engine, { ...key, ...range });
      const html = toSharedPage({ token, ...status, ...events, page, size: PAGE_SIZE });
      return reply
        .header("content-security-policy", PAGE_POLICY)
        .type("text/html; charset=utf-8")
        .send(html as never);
    },
  });
}
