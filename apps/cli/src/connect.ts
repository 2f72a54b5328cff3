// The client that commands use, from flags, the environment, and the stack that runs here.
import { TandemClient } from "@tandem/sdk";
import { findDataDir, readNote } from "./data-dir.ts";
import { CliError, exitCodes, usageError } from "./exit-codes.ts";

/** What every command that talks to a server takes. */
export interface ServerOptions {
  baseUrl?: string;
  apiKey?: string;
}

/** Where a server is, and the key for it. */
export interface Server {
  baseUrl: string;
  apiKey: string | null;
  /** True when somebody named the address; false for the one of the stack here, or the default. */
  isNamed: boolean;
}

/** Where `tandem up` listens when nothing else is said. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:3000";

/** How long a server may take to say that it is there, in ms. */
const GREETING_MS = 5_000;

/**
 * Finds the server: what the flags say, then the environment, then the stack that runs on the data folder. The kept
 * key of that stack is never given to a server that was named.
 *
 * @throws {CliError} when the address or the key is of no form that can be used; neither is shown where it has a secret
 */
export async function findServer(options: ServerOptions, env = process.env): Promise<Server> {
  const server = await readServer(options, env);
  checkAddress(server.baseUrl);
  if (server.apiKey !== null) checkKey(server.apiKey);
  return server;
}

async function readServer(options: ServerOptions, env: NodeJS.ProcessEnv): Promise<Server> {
  const named = options.baseUrl ?? (env.TANDEM_BASE_URL?.trim() || undefined);
  const key = options.apiKey ?? (env.TANDEM_API_KEY?.trim() || undefined);
  if (named !== undefined) return { baseUrl: named, apiKey: key ?? null, isNamed: true };
  const dataDir = findDataDir(env);
  const noted = await readNote(dataDir, "base-url");
  const baseUrl = noted !== null && isOnThisMachine(noted) ? noted : DEFAULT_BASE_URL;
  return { baseUrl, apiKey: key ?? (await readNote(dataDir, "api-key")), isNamed: false };
}

function checkAddress(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url?.username || url?.password) {
    throw usageError("The address must not hold a name or a password: give the key with --api-key.");
  }
  if (!url || !/^https?:\/\/./.test(baseUrl)) {
    throw usageError(`The address must be an http or https URL, not ${JSON.stringify(baseUrl)}.`);
  }
}

/** What a header cannot carry would be told by fetch with the key in its words. */
function checkKey(apiKey: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return;
  throw usageError("The API key must be of visible ASCII characters, without spaces and line ends.");
}

/** A folder may come from anywhere: what lies in it must not send a key away. */
function isOnThisMachine(url: string): boolean {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: "" };
  return /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(hostname);
}

/**
 * A client of the server.
 *
 * @throws {CliError} when no server answers, or there is no key for it
 */
export async function connect(options: ServerOptions): Promise<TandemClient> {
  const server = await findServer(options);
  await greet(server);
  if (server.apiKey === null) {
    throw new CliError(
      `There is no API key for ${server.baseUrl}: give --api-key, or set TANDEM_API_KEY.`,
      exitCodes.refused,
    );
  }
  return new TandemClient({ baseUrl: server.baseUrl, apiKey: server.apiKey });
}

/** Asks whether anybody is there, so that a server that is not is told at once, in words that help. */
async function greet({ baseUrl, isNamed }: Server): Promise<void> {
  const url = `${baseUrl.replace(/\/+$/, "").replace(/\/api\/v2$/, "")}/healthz`;
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(GREETING_MS) })).arrayBuffer();
  } catch (cause) {
    const advice = isNamed
      ? "Is the address right? `tandem doctor` looks closer."
      : "Start one with `npx tandem up`, or name one with --base-url or TANDEM_BASE_URL.";
    throw new CliError(`No Tandem server answers at ${baseUrl}. ${advice}`, exitCodes.unreachable, { cause });
  }
}
