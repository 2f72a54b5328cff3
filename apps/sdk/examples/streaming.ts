// Shows what happens as it happens: the model's words, and each call.
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/streaming.ts
import { TandemClient, tool } from "@tandem/sdk";
import { z } from "zod";

const countDown = tool({
  name: "count_down",
  description: "Count down from a number.",
  inputSchema: z.object({ from: z.number().int().min(1).max(10).describe("The number to begin with.") }),
  // What a generator yields is progress, which all who watch the session see; what it returns is the result.
  async *fn({ from }) {
    for (let left = from; left > 0; left -= 1) yield { left };
    return "Lift-off!";
  },
});

const client = new TandemClient();
const stream = client.streamSession({
  agent: "tandem/assistant",
  messages: "Count down from 3.",
  tools: [countDown],
});
for await (const event of stream) {
  if (event.type === "delta") process.stdout.write(event.text);
  else if (event.type === "ToolCallProgressEvent")
    console.log("progress", JSON.stringify(event.data.progress));
  else if (event.type === "ActiveStateChangeEvent") console.log(`[${event.data.state}]`);
}
const result = await stream.result;
console.log(`\n${result.status} after ${result.usage.steps} model calls`);
