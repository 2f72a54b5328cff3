// The shortest way: one tool, one question, one answer.
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/order-status.ts "Where is order A-1001?"
import { TandemClient, tool } from "@tandem/sdk";
import { z } from "zod";

const orders = new Map([
  ["A-1001", { status: "shipped", arrives: "Thursday" }],
  ["A-1002", { status: "being packed", arrives: "next week" }],
]);

const getOrderStatus = tool({
  name: "get_order_status",
  description: "Look up the status of an order by its id.",
  inputSchema: z.object({ order_id: z.string().describe("The order's id, for example A-1001.") }),
  // `order_id` is a string here: the type follows from the schema, and the arguments were checked with it.
  fn: ({ order_id }) => orders.get(order_id) ?? { error: `There is no order ${order_id}.` },
});

const client = new TandemClient();
const result = await client.runSession({
  agent: "tandem/assistant",
  messages: process.argv[2] ?? "Where is order A-1001?",
  tools: [getOrderStatus],
});
console.log(result.status, result.answer);
for (const call of result.toolCalls) console.log(`${call.name} took ${call.durationMs} ms`);
