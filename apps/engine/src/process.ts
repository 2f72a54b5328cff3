// What every process has in common: a logger, settings that are read once, and an orderly end.
import { createRequire } from "node:module";
import pino, { type Logger } from "pino";
import { type Environment, SettingsError } from "./domain/settings.ts";

/** A second signal counts when it comes this long after the first: Ctrl-C through npm may arrive twice. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

/**
 * Longest orderly end, in milliseconds: more than its parts may take together, less than compose waits. Past it the
 * process exits with 1: what is lost, the sweep repairs.
 */
const SHUTDOWN_TIMEOUT_MS = 38_000;

/** Paths of log lines that could hold a key. */
const SECRETS = ["req.headers.authorization", "headers.authorization", "*.apiKey", "*.password"];

/** A logger that writes JSON lines, or readable ones when standard output is a terminal and pino-pretty is there. */
export function createLogger(name: string, level: string): Logger {
  const options = { name, level, redact: SECRETS };
  const target = process.stdout.isTTY ? findPrettyPrinter() : null;
  if (target === null) return pino(options);
  return pino({ ...options, transport: { target, options: { ignore: "pid,hostname" } } });
}

/** The path of pino-pretty, which only the standalone app brings: null in an installation without it. */
function findPrettyPrinter(): string | null {
  try {
    return createRequire(import.meta.url).resolve("pino-pretty");
  } catch {
    return null;
  }
}

/**
 * Reads the settings, starts, and closes at the first SIGTERM or SIGINT, then exits with 0. A later second signal
 * exits at once with 1. A fault in the settings is told in full and ends the process with 1.
 *
 * @param start returns what closes everything again
 */
export async function runProcess<C extends { logLevel: string }>(
  name: string,
  loadConfig: (env: Environment) => C,
  start: (config: C, log: Logger) => Promise<() => Promise<void>>,
): Promise<void> {
  let config: C;
  try {
    config = loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  const log = createLogger(name, config.logLevel);
  process.on("unhandledRejection", (error) =>
    log.error({ err: error }, "a promise was rejected and not handled"),
  );
  // Signals count from the start: as the first process of a container, Node would ignore them otherwise.
  let close: () => Promise<void> = async () => undefined;
  closeOnSignal(log, () => close());
  try {
    close = await start(config, log);
  } catch (error) {
    const advice = adviseOnStart(error);
    log.fatal(advice === null ? { err: error } : {}, advice ?? "the process could not start");
    log.flush();
    setTimeout(() => process.exit(1), LOG_FLUSH_MS);
  }
}

/** An error that ended a command, for a person: advice where the cause is plain, else the stack. */
export function toStartFault(error: unknown): string {
  return adviseOnStart(error) ?? String((error as Error).stack ?? error);
}

/** What to do about an error at the start, when it has a plain cause. */
function adviseOnStart(error: unknown): string | null {
  const { code, address, port, message } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (code === "EADDRINUSE")
    return `${address}:${port} is taken: set PORT (TANDEM_METRICS_PORT of a worker) to another, or 0 for any free one`;
  if (code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `the database cannot be reached (${code}): check DATABASE_URL`;
  }
  // Such an error says itself what to do.
  if (code === "DATA_FOLDER_IN_USE") return message;
  return null;
}

/** How long a log line needs to get out of a process that ends, in milliseconds. */
const LOG_FLUSH_MS = 100;

function closeOnSignal(log: Logger, close: () => Promise<void>): void {
  let firstAt: number | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstAt !== null) {
      if (performance.now() - firstAt < SECOND_SIGNAL_AFTER_MS) return;
      log.warn({ signal }, "second signal: leaving at once");
      process.exit(1);
    }
    firstAt = performance.now();
    log.info({ signal }, "closing");
    setTimeout(() => {
      log.error("closing took too long");
      process.exit(1);
    }, SHUTDOWN_TIMEOUT_MS).unref();
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "closing failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
