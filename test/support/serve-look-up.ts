// A program that serves one tool: it says which call it runs, on its standard output, and lets each take a while.
import { setTimeout as delay } from "node:timers/promises";
import { TandemClient, tool } from "@tandem/sdk";

const { TANDEM_LEASE_S: leaseS, TANDEM_RUN_MS: runMs } = process.env;

const lookUp = tool<{ key: string }>({
  name: "look_up",
  description: "Looks up a key.",
  fn: async ({ key }) => {
    process.stdout.write(`ran ${key}\n`);
    await delay(Number(runMs));
    return `${key}!`;
  },
});

// The address and the key come from the environment.
const serving = new TandemClient().serveTools({ tools: [lookUp], leaseS: Number(leaseS) });
process.once("SIGTERM", () => void serving.close());
process.stdout.write("serving\n");
await serving.done;
