import { type Static, Type } from "@sinclair/typebox";
import { APPROVAL_STATUSES, type PostedApproval } from "@tandem/engine/domain/approvals";
import { DECISIONS } from "@tandem/engine/domain/tools";
import { nullable, openObject, ref, stringEnum } from "./typebox.ts";

export const Approval = Type.Object(
  {
    call_id: Type.String({ minLength: 1, description: "A call of `pending_approvals`." }),
    decision: stringEnum(DECISIONS),
    message: Type.Optional(
      nullable(Type.String({ maxLength: 10_000 }), {
        description: "Why. The model reads it when the call is denied.",
      }),
    ),
    args: Type.Optional(
      nullable(openObject("Arguments."), {
        description: "With `allow`: other arguments than the model's. They must fit the tool's schema.",
      }),
    ),
    remember: Type.Optional(
      nullable(stringEnum(["session"] as const), {
        description: "`session`: counts for all calls of the tool from now on, and for those that wait.",
      }),
    ),
  },
  {
    $id: "Approval",
    additionalProperties: false,
    examples: [{ call_id: "call_…", decision: "deny", message: "Not on a Sunday." }],
  },
);

export const ApprovalBatch = Type.Object(
  {
    type: Type.Optional(Type.Literal("batch", { default: "batch" })),
    approvals: Type.Array(ref(Approval), { minItems: 1, maxItems: 1_000 }),
  },
  { $id: "ApprovalBatch", additionalProperties: false },
);

export const ApprovalReceipt = Type.Object(
  {
    id: Type.String({ description: "The call that the decision was for." }),
    status: stringEnum(APPROVAL_STATUSES, {
      description:
        "`accepted`: it counts. `duplicate`: the same was decided before. `conflict`: another decision was taken, or the " +
        "call needs none. `late`: the call was withdrawn, or its time was over. `unknown`: no such call.",
    }),
  },
  { $id: "ApprovalReceipt" },
);

export const ApprovalsReceipt = Type.Object(
  {
    receipts: Type.Array(ref(ApprovalReceipt), { description: "One per decision, in order." }),
    pending: Type.Array(Type.String(), { description: "Ids of the calls that wait for a result." }),
    pending_approvals: Type.Array(Type.String(), {
      description: "Ids of the calls that wait for a decision.",
    }),
    resumed: Type.Boolean({ description: "Whether no call is open any more, so that the session goes on." }),
  },
  { $id: "ApprovalsReceipt" },
);

/** A posted decision with its defaults filled in. */
export function toPostedApproval(sent: Static<typeof Approval>): PostedApproval {
  const { call_id: callId, decision, message = null, args = null, remember } = sent;
  return { callId, decision, message, args, remember: remember === "session" };
}

export const approvalSchemas = [Approval, ApprovalBatch, ApprovalReceipt, ApprovalsReceipt];
