// A script as people write them: it starts Tandem, runs a session, closes, and ends by itself.
import { tool } from "@tandem/sdk";
import { Tandem } from "@tandem/standalone";

const tandem = await Tandem.start();
const getOrderStatus = tool<{ order_id: string }>({
  name: "get_order_status",
  description: "Look up the status of an order by its id.",
  inputSchema: { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] },
  fn: ({ order_id }) => `${order_id} is here, in process ${process.pid}`,
});
const result = await tandem.client.runSession({
  agent: "tandem/assistant",
  messages: "Where is order A-1001?",
  tools: [getOrderStatus],
});
await tandem.close();
process.stdout.write(`${JSON.stringify({ status: result.status, answer: result.answer })}\n`);
