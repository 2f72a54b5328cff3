import { Type } from "@sinclair/typebox";
import { CALL_STATES } from "@tandem/engine/domain/call-states";
import { listCalls } from "@tandem/engine/queries/list-calls";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { pageQuery, SessionParams, toOffset } from "../../schemas/params.ts";
import { StoredToolCallPage, toStoredToolCall } from "../../schemas/tool-calls.ts";
import { ref, stringEnum } from "../../schemas/typebox.ts";

const Query = Type.Object({
  ...pageQuery({ default: 50, max: 200 }),
  state: Type.Optional(stringEnum(CALL_STATES, { description: "Only calls in this state." })),
});

/** `GET /sessions/{id}/tool_calls`: every call of the session, in pages. */
export function listToolCallsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/api/v2/sessions/:id/tool_calls",
    schema: {
      operationId: "listToolCalls",
      tags: ["sessions"],
      summary: "List a session's tool calls",
      description: "In the order in which the model asked for them, with who settled each, when, and why.",
      params: SessionParams,
      querystring: Query,
      response: { 200: ref(StoredToolCallPage), ...errorsOf(404) },
    },
    async handler(request) {
      const { query } = request;
      const { rows, total } = await listCalls(engine, {
        organizationId: principalOf(request).organizationId,
        sessionId: request.params.id,
        state: query.state ?? null,
        offset: toOffset(query),
        limit: query.size,
      });
      return { items: rows.map(toStoredToolCall), total, page: query.page };
    },
  });
}
