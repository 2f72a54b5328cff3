import { type Static, Type } from "@sinclair/typebox";
import { submitToolResults } from "@tandem/engine/commands/submit-tool-results";
import { invalidRequest } from "@tandem/engine/domain/errors";
import { refuseTools } from "@tandem/engine/domain/session-tokens";
import type { PostedResult } from "@tandem/engine/domain/tool-results";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import {
  ErrorEvent,
  ToolResultBatch,
  ToolResultEvent,
  ToolResultsReceipt,
  toPostedResult,
} from "../../schemas/tool-results.ts";
import { ref } from "../../schemas/typebox.ts";

type SingleBody = Static<typeof ToolResultEvent> | Static<typeof ErrorEvent>;
type Body = SingleBody | Static<typeof ToolResultBatch>;

/** `POST /sessions/{id}/tool_results`: settles calls with results or errors, one or many. */
export function submitToolResultsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/tool_results",
    config: { sessionToken: true },
    schema: {
      operationId: "submitToolResults",
      tags: ["sessions"],
      summary: "Post results of tool calls",
      description:
        "One `tool_result`, one `error_event`, or a batch. The first answer to a call wins and the same again is " +
        "harmless. 404 when no entry fits a call; 409 when all fitting calls were settled with other content, or " +
        "when the session has ended (`code` tells them apart).",
      params: SessionParams,
      body: Type.Union([ref(ToolResultEvent), ref(ErrorEvent), ref(ToolResultBatch)]),
      response: { 202: ref(ToolResultsReceipt), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      const { entries, locOf } = toEntries(request.body);
      // By the names that are posted: one that is not its call's is refused as well, before anything is written.
      const { organizationId, userName, scope } = principalOf(request);
      refuseTools(
        scope,
        entries.map(({ tool_req }) => tool_req.tool_name),
      );
      const sessionId = request.params.id;
      const submitted = { organizationId, sessionId, userName, entries, locOf };
      return reply.code(202).send(await submitToolResults(engine, submitted));
    },
  });
}

function toEntries(body: Body): { entries: PostedResult[]; locOf: (index: number) => (string | number)[] } {
  const batch = isBatch(body) ? body.results : null;
  const locOf = (index: number) => (batch ? ["body", "results", index] : ["body"]);
  const entries = (batch ?? [body as SingleBody]).map((entry, index) => {
    const posted = toPostedResult(entry);
    if (posted) return posted;
    throw invalidRequest(
      [...locOf(index), "tool_req"],
      "tool_req is required: it says which call failed",
      "required",
    );
  });
  return { entries, locOf };
}

/** A batch is closed: it holds `results` and at most a `type`. A single entry may carry any other keys. */
function isBatch(body: Body): body is Static<typeof ToolResultBatch> {
  return "results" in body && Object.keys(body).every((key) => key === "results" || key === "type");
}
