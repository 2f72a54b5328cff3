import { type Static, Type } from "@sinclair/typebox";
import { decideCalls } from "@tandem/engine/commands/decide-calls";
import { type Fault, TandemError } from "@tandem/engine/domain/errors";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { Approval, ApprovalBatch, ApprovalsReceipt, toPostedApproval } from "../../schemas/approvals.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { SessionParams } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";

/** `POST /sessions/{id}/approvals`: decides on calls that need approval, one or many. */
export function submitApprovalsRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/approvals",
    schema: {
      operationId: "submitApprovals",
      tags: ["sessions"],
      summary: "Allow or deny tool calls",
      description:
        "One decision, or a batch. An allowed call joins `pending_tool_calls`; a denied one has its result, which the " +
        "model sees. 404 when no decision fits a call; 409 when none could be taken, or when the session has ended.",
      params: SessionParams,
      body: Type.Union([ref(Approval), ref(ApprovalBatch)]),
      response: { 202: ref(ApprovalsReceipt), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      const { organizationId, userName } = principalOf(request);
      const { entries, locOf } = toEntries(request.body);
      const posted = { organizationId, sessionId: request.params.id, userName, entries, locOf };
      return reply.code(202).send(await decideCalls(engine, posted));
    },
  });
}

function toEntries(body: Static<typeof Approval> | Static<typeof ApprovalBatch>) {
  const batch = "approvals" in body ? body.approvals : null;
  const locOf = (index: number) => (batch ? ["body", "approvals", index] : ["body"]);
  const entries = (batch ?? [body as Static<typeof Approval>]).map(toPostedApproval);
  const faults = entries.flatMap(({ decision, args }, index): Fault[] => {
    if (decision === "allow" || args === null) return [];
    const msg = "args is set, and the call is denied: only an allowed call runs with other arguments";
    return [{ loc: [...locOf(index), "args"], msg, type: "approval_args" }];
  });
  const [first] = faults;
  if (first) throw new TandemError("invalid_request", first.msg, { faults });
  return { entries, locOf };
}
