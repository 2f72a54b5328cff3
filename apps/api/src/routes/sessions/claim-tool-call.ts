import { claimCall } from "@tandem/engine/commands/claim-call";
import { invalidRequest } from "@tandem/engine/domain/errors";
import { hasExactNumber } from "@tandem/engine/domain/json";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { CallParams } from "../../schemas/params.ts";
import { toTime } from "../../schemas/sessions.ts";
import { CallClaim, ClaimedCall } from "../../schemas/tool-calls.ts";
import { ref } from "../../schemas/typebox.ts";

/** `POST /sessions/{id}/tool_calls/{call_id}/claim`: says who runs a call, so that nobody else does. */
export function claimToolCallRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/tool_calls/:call_id/claim",
    config: { sessionToken: true },
    schema: {
      operationId: "claimToolCall",
      tags: ["sessions"],
      summary: "Claim a tool call",
      description:
        "For several clients that share a session's calls. The same claimant again prolongs its claim; after its time " +
        "another one may claim the call. 409 while another holds it (`call_claimed`, with `claimant`, `claimed_until` " +
        "and `Retry-After`), and when the call waits for no result. Results are taken from anybody, claimed or not.",
      params: CallParams,
      body: ref(CallClaim),
      response: { 200: ref(ClaimedCall), ...errorsOfBody(404, 409) },
    },
    async handler(request) {
      const { claimant, lease_s: leaseS } = request.body;
      if (hasExactNumber({ leaseS })) {
        const msg = `lease_s is ${leaseS}; a number that a 64-bit float holds is right`;
        throw invalidRequest(["body", "lease_s"], msg, "number_exact");
      }
      const { organizationId, scope } = principalOf(request);
      const { id: sessionId, call_id: callId } = request.params;
      const claim = { organizationId, sessionId, callId, claimant, leaseS, scope };
      const { claimedUntil, previousClaimant } = await claimCall(engine, claim);
      return { claimed_until: toTime(claimedUntil), previous_claimant: previousClaimant };
    },
  });
}
