// A program that serves one tool: it says which call it runs, on its standard output, and lets each take a while. After so
// many it hangs in each.
import { setTimeout as delay } from "node:timers/promises";
import { serveTools, TandemClient, tool } from "@tandem/sdk";

const { LEASE_S, RUN_MS, HANG_AFTER = "1000000" } = process.env;
let runs = 0;

const lookUp = tool<{ key: string }>({
  name: "look_up",
  description: "Looks up a key.",
  fn: async ({ key }) => {
    runs += 1;
    process.stdout.write(`ran ${key}\n`);
    await (runs > Number(HANG_AFTER) ? new Promise(() => undefined) : delay(Number(RUN_MS)));
    return `${key}!`;
  },
});

// The address and the key come from the environment.
const serving = serveTools({ client: new TandemClient(), tools: [lookUp], leaseS: Number(LEASE_S) });
process.once("SIGTERM", () => void serving.close());
process.stdout.write("serving\n");
await serving.done;
