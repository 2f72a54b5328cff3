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

/** Exit codes of the signals that end the demo early: 128 and the signal's number, as shells have it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** A second signal leaves at once when it comes this long after the first: Ctrl-C through npm may arrive twice. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

/** Runs the demo. Whatever happens, and when `signal` is aborted too, the stack is closed and its folder removed. */
async function main(signal: AbortSignal): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "tandem-demo-"));
  // The demo never touches a database that somebody uses.
  const env = { ...process.env, PORT: "0", TANDEM_DATA_DIR: dataDir, DATABASE_URL: "", REDIS_URL: "" };
  const narrator = createNarrator(process.stdout);
  let stack: RunningStandalone | undefined;
  try {
    const config = loadConfig(env);
    narrator.title("Tandem: an agent on a server, its tool in your process.");
    const startedAt = performance.now();
    const log = createLogger("tandem", process.env.LOG_LEVEL ? config.logLevel : "warn");
    signal.addEventListener("abort", () => {
      log.level = "silent";
    });
    stack = await startStandalone(config, log);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    signal.throwIfAborted();
    narrator.done(`Postgres, API and worker started in ${seconds} s`, stack.baseUrl);
    return (await runOneSession(stack, { config, narrator, signal })) ? 0 : 1;
  } finally {
    await stack?.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function runOneSession(
  stack: RunningStandalone,
  { config, narrator, signal }: { config: StandaloneConfig; narrator: Narrator; signal: AbortSignal },
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
  const session = await client.startSession({
    agent: "tandem/assistant",
    messages: QUESTION,
    tools: [getOrderStatus],
    signal,
  });
  signal.throwIfAborted();
  const wait = new AbortController();
  // A cancelled session ends the wait by itself, and its worker does not wait for the model.
  signal.addEventListener("abort", () => session.cancel().catch((error) => wait.abort(error)));
  const result = await session.waitForCompletion({
    onEvent: (event) => narrator.event(event),
    signal: wait.signal,
  });
  signal.throwIfAborted();
  narrator.answer(String(result.answer ?? result.error));
  narrator.done(`${result.status} after ${result.events.length} events`, `session ${result.sessionId}`);
  narrator.next([
    "npm start           keeps this stack running and prints a key and a curl to paste",
    "README.md           the same in your own program, with your own tools",
  ]);
  return result.status === "completed";
}

/** The first signal ends the demo in order, whatever it is doing; what fails on the way is no news then. */
function endOnSignal(controller: AbortController): { exitCode(): number | null } {
  let first: { atMs: number; exitCode: number } | null = null;
  const onSignal = (name: keyof typeof EXIT_CODES) => {
    if (first === null) {
      first = { atMs: performance.now(), exitCode: EXIT_CODES[name] };
      controller.abort();
    } else if (performance.now() - first.atMs >= SECOND_SIGNAL_AFTER_MS) process.exit(first.exitCode);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return { exitCode: () => first?.exitCode ?? null };
}

const controller = new AbortController();
const interruption = endOnSignal(controller);
try {
  process.exitCode = await main(controller.signal);
} catch (error) {
  const isSettings = error instanceof SettingsError;
  const text = isSettings ? error.message : String((error as Error).stack ?? error);
  if (!controller.signal.aborted) process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
const interruptedCode = interruption.exitCode();
if (interruptedCode !== null) process.exit(interruptedCode);
