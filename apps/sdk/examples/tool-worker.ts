// Tools that live apart from the program that asks: start as many of these as you like, each call runs once.
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/tool-worker.ts
// The agent `warehouse` is stored with the tools' definitions, so whoever asks it needs no code of them:
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/tool-worker.ts ask "How many pencils are in stock?"
import { APIError, serveTools, TandemClient, toDefinitions, tool } from "@tandem/sdk";
import { z } from "zod";

const stock: Record<string, number> = { pencils: 1_200, erasers: 80 };

const countStock = tool({
  name: "count_stock",
  description: "How many pieces of an item are in stock.",
  inputSchema: z.object({ item: z.enum(["pencils", "erasers"]).describe("The item.") }),
  fn: ({ item }) => ({ item, pieces: stock[item], counted_by: process.pid }),
});

const client = new TandemClient();
const [command, question = "How many pencils are in stock?"] = process.argv.slice(2);

if (command === "ask") {
  const { status, answer } = await client.runSession({ agent: "warehouse", messages: question });
  console.log(status, answer);
} else {
  await storeAgent();
  const worker = serveTools({ client, tools: [countStock], agents: ["warehouse"] });
  console.log("Serving count_stock; Ctrl-C ends it");
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => worker.close());
  await worker.done;
}

/** Makes the agent, or gives the one that is there the tools of this version. */
async function storeAgent() {
  const agent = { name: "warehouse", description: "Knows the stock.", tools: toDefinitions([countStock]) };
  try {
    await client.createAgent({ body: agent });
  } catch (error) {
    if (!(error instanceof APIError) || error.status !== 409) throw error;
    await client.replaceAgent({ path: { agent_name: agent.name }, body: agent });
  }
}
