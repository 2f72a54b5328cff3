// What a client is told, with what it takes from the environment and its defaults.
import { TandemError } from "./errors.ts";
import type { Journal } from "./journal.ts";

const defaultBaseUrl = "http://127.0.0.1:3000";
const defaultTimeoutMs = 60_000;
const defaultMaxRetries = 2;

/** Options of a `TandemClient`. */
export interface TandemClientOptions {
  /** Where the API is. Default: `TANDEM_BASE_URL` where there is an environment, else `http://127.0.0.1:3000`. */
  baseUrl?: string | undefined;
  /** Default: `TANDEM_API_KEY` where there is an environment. */
  apiKey?: string | undefined;
  /** Used for every request in place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** How long one request may take, in ms; the time that a long poll asks for comes on top. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** How often a request is sent again after a failure that a repeat can mend. Default: 2. */
  maxRetries?: number | undefined;
  /** Sent with every request. With an `authorization` header no API key is needed. */
  headers?: Record<string, string> | undefined;
  /**
   * Remembers calls beyond the end of this process, so that the next one does not run them twice: `fileJournal` of
   * `@tandem/sdk/node`, or a store of yours. Default: none.
   */
  journal?: Journal | undefined;
}

/** The options with every gap filled. */
export interface Settings {
  baseUrl: string;
  apiKey: string | null;
  fetch: typeof fetch;
  timeoutMs: number;
  maxRetries: number;
  headers: Record<string, string>;
  journal: Journal | null;
}

/**
 * Fills the gaps of a client's options.
 *
 * @throws {TandemError} when there is no API key or one that no header can carry, or the base URL is none
 */
export function toSettings(options: TandemClientOptions): Settings {
  const environment = readEnvironment();
  const headers = options.headers ?? {};
  const apiKey = options.apiKey ?? environment.TANDEM_API_KEY ?? "";
  if (apiKey === "" && !Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
    throw new TandemError("No API key: give `apiKey`, or set TANDEM_API_KEY");
  }
  // The error that fetch throws for such a key shows it.
  if (/[^!-~]/.test(apiKey)) throw new TandemError("The API key holds a space, a line end or the like");
  return {
    baseUrl: toBaseUrl(options.baseUrl || environment.TANDEM_BASE_URL || defaultBaseUrl),
    apiKey: apiKey === "" ? null : apiKey,
    // Looked up for each call, so that it may be replaced later, and called as the global's own method.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    maxRetries: options.maxRetries ?? defaultMaxRetries,
    headers,
    journal: options.journal ?? null,
  };
}

/** The operations' paths begin with `/api/v2`, so a base URL that ends with it is understood too. */
function toBaseUrl(text: string): string {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) {
    throw new TandemError(`baseUrl must be an http or https URL, not ${JSON.stringify(text)}`);
  }
  return text.replace(/\/+$/, "").replace(/\/api\/v2$/, "");
}

function readEnvironment(): Record<string, string | undefined> {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env ?? {};
}
