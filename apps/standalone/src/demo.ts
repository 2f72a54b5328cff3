// `npm run demo`: the whole stack on a database that is thrown away, and one session whose tool runs right here.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SettingsError } from "@tandem/engine/domain/settings";
import { createLogger } from "@tandem/engine/process";
import { TandemClient, tool } from "@tandem/sdk";
import { loadConfig, type StandaloneConfig } from "./config.ts";
import { createNarrator, type Narrator } from "./narrator.ts";
import { type RunningStandalone, startStandalone } from "./start-standalone.ts";

const QUESTION = "Where is order A-1001?";

/** What the demo's tool knows: in a real program this is your database, your files, your browser. */
const ORDERS: Record<string, { status: string; carrier: string; arrives: string }> = {
  "A-1001": { status: "shipped", carrier: "Northwind Express", arrives: "Thursday" },
  "A-1002": { status: "being packed", carrier: "none yet", arrives: "next week" },
};

async function main(): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "tandem-demo-"));
  // The demo never touches a database that somebody uses.
  const env = { ...process.env, PORT: "0", TANDEM_DATA_DIR: dataDir, DATABASE_URL: "", REDIS_URL: "" };
  const narrator = createNarrator(process.stdout);
  let stack: RunningStandalone | undefined;
  try {
    const config = loadConfig(env);
    narrator.title("Tandem: an agent on a server, its tool in your process.");
    const startedAt = performance.now();
    stack = await startStandalone(
      config,
      createLogger("tandem", process.env.LOG_LEVEL ? config.logLevel : "warn"),
    );
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    narrator.done(`Postgres, API and worker started in ${seconds} s`, stack.baseUrl);
    return (await runOneSession(stack, config, narrator)) ? 0 : 1;
  } finally {
    await stack?.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function runOneSession(
  stack: RunningStandalone,
  config: StandaloneConfig,
  narrator: Narrator,
): Promise<boolean> {
  const client = new TandemClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKey });
  const getOrderStatus = tool<{ order_id: string }>({
    name: "get_order_status",
    description: "Look up the status of an order by its id.",
    inputSchema: {
      type: "object",
      properties: { order_id: { type: "string", description: "The order's id, for example A-1001." } },
      required: ["order_id"],
    },
    fn({ order_id }) {
      narrator.local(`get_order_status runs here, in process ${process.pid}`, JSON.stringify({ order_id }));
      return ORDERS[order_id] ?? { status: "unknown order" };
    },
  });
  const model = config.api.models.defaultModel;
  narrator.sent(
    "A session is created",
    `${QUESTION}  (model ${model}${config.isDemoModel ? ", a demo that matches words" : ""})`,
  );
  const result = await client.runSession({
    agent: "tandem/assistant",
    messages: QUESTION,
    tools: [getOrderStatus],
    onEvent: (event) => narrator.event(event),
  });
  narrator.answer(String(result.answer ?? result.error));
  narrator.done(`${result.status} after ${result.events.length} events`, `session ${result.sessionId}`);
  narrator.next([
    "npm start           keeps this stack running and prints a key and a curl to paste",
    "README.md           the same in your own program, with your own tools",
  ]);
  return result.status === "completed";
}

process.once("SIGINT", () => process.exit(130));
try {
  process.exitCode = await main();
} catch (error) {
  const isSettings = error instanceof SettingsError;
  process.stderr.write(`${isSettings ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exitCode = 1;
}
