import { reportProgress } from "@tandem/engine/commands/report-progress";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { CallParams } from "../../schemas/params.ts";
import { CallProgress, CallProgressReceipt } from "../../schemas/tool-calls.ts";
import { ref } from "../../schemas/typebox.ts";

/** `POST /sessions/{id}/tool_calls/{call_id}/progress`: tells how far a pending call is. */
export function reportProgressRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/tool_calls/:call_id/progress",
    config: { sessionToken: true },
    schema: {
      operationId: "reportToolProgress",
      tags: ["sessions"],
      summary: "Report progress of a pending tool call",
      description:
        "Any JSON; it becomes a `ToolCallProgressEvent`, and the call's time for a result begins anew. The model does not " +
        "see it. 409 when the call is settled, or waits for an approval.",
      params: CallParams,
      body: ref(CallProgress),
      response: { 202: ref(CallProgressReceipt), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      const { organizationId, scope } = principalOf(request);
      const { id: sessionId, call_id: callId } = request.params;
      const progress = request.body.progress ?? null;
      const deadline = await reportProgress(engine, { organizationId, sessionId, callId, progress, scope });
      return reply.code(202).send({ deadline });
    },
  });
}
