// A tool that acts asks a person first: here, whoever sits at the terminal.
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/approvals.ts
import { createInterface } from "node:readline/promises";
import { type PermissionRequest, TandemClient, tool } from "@tandem/sdk";
import { z } from "zod";

const refundOrder = tool({
  name: "refund_order",
  description: "Refund an order by its id.",
  inputSchema: z.object({ order_id: z.string().describe("The order's id, for example A-1001.") }),
  capability: "actuator",
  approval: "always",
  fn: ({ order_id }, { idempotencyKey }) => {
    // A payment service takes this key, so that a call which is delivered twice refunds once.
    console.log(`Refunding ${order_id} as ${idempotencyKey}`);
    return { order_id, refunded: true };
  },
});

/** The signal is aborted when somebody else has decided, or the session has ended. */
async function ask({ call, args, signal }: PermissionRequest) {
  const question = `Allow ${call.tool_name} ${JSON.stringify(args)}? [y/N] `;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question, { signal }).finally(() => terminal.close());
  return answer.trim().toLowerCase() === "y"
    ? ("allow" as const)
    : { decision: "deny" as const, message: "The clerk said no." };
}

const client = new TandemClient();
const result = await client.runSession({
  agent: "tandem/assistant",
  messages: "Refund order A-1001.",
  tools: [refundOrder],
  onPermissionRequest: ask,
});
console.log(result.status, result.answer);
