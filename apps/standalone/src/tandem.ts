// Tandem inside a program: the whole service on a database of its own, and a client of it.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newApiKey } from "@tandem/engine/domain/api-keys";
import { TandemClient } from "@tandem/sdk";
import pino from "pino";
import { loadConfig } from "./config.ts";
import { type RunningStandalone, startStandalone } from "./start-standalone.ts";

/** Options of {@link Tandem.start}. */
export interface TandemOptions {
  /**
   * The model of agents that name none, as `provider/model`. Default: `TANDEM_MODEL` of `settings` or of the environment,
   * else `demo/keyword`, which needs no key and matches words.
   */
  model?: string | undefined;
  /**
   * Where the database is kept, so that the next start finds the sessions of this one. Default: a temporary folder that
   * `close()` removes.
   */
  dataDir?: string | undefined;
  /** The port of the API on 127.0.0.1. Default: any free one. */
  port?: number | undefined;
  /** What is logged, to standard error: `fatal`, `error`, `warn`, `info`, `debug`, `trace`, `silent`. Default: `silent`. */
  logLevel?: string | undefined;
  /**
   * Any other setting of the server, by its name: `{ TANDEM_WORKER_CONCURRENCY: "4" }`. `DATABASE_URL` and `REDIS_URL`
   * are taken from here alone; those of model providers from the environment too.
   */
  settings?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What is taken from the environment: which models there are. A program's other settings are for other servers. */
const MODEL_SETTINGS = [
  "TANDEM_MODEL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "TANDEM_COMPATIBLE_BASE_URL",
  "TANDEM_COMPATIBLE_API_KEY",
] as const;

/**
 * The whole service in this process: Postgres, API and worker. Good in tests and scripts.
 *
 * @example
 * const tandem = await Tandem.start();
 * try {
 *   const result = await tandem.client.runSession({ agent: "tandem/assistant", messages: "Hello" });
 *   console.log(result.answer);
 * } finally {
 *   await tandem.close();
 * }
 */
export class Tandem {
  /** A client of the service, with its key. */
  readonly client: TandemClient;
  /** Where the API is, without `/api/v2`. */
  readonly baseUrl: string;
  /** A key of the organization `default`. */
  readonly apiKey: string;
  readonly #end: () => Promise<void>;
  #closing: Promise<void> | undefined;

  private constructor({ baseUrl, apiKey }: RunningStandalone, end: () => Promise<void>) {
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
    this.client = new TandemClient({ baseUrl, apiKey });
    this.#end = end;
  }

  /**
   * Starts the service, which takes about two seconds.
   *
   * @throws {SettingsError} with every setting at fault
   * @throws {Error} when a part cannot be started; what had started is closed again
   */
  static async start(options: TandemOptions = {}): Promise<Tandem> {
    const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });
    const temporary = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), "tandem-")) : null;
    const cleanUp = () => (temporary === null ? Promise.resolve() : removeFolder(temporary));
    try {
      const config = loadConfig(toEnvironment(options, temporary ?? options.dataDir ?? ""));
      const stack = await startStandalone(config, pino({ level: config.logLevel }, pino.destination(2)));
      return new Tandem(stack, () => stack.close().finally(cleanUp));
    } catch (error) {
      await cleanUp();
      throw error;
    }
  }

  /** Ends the service and removes what it made. Sessions that run are cut off. Closing again does nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** For `await using tandem = await Tandem.start()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function toEnvironment(options: TandemOptions, dataDir: string): Record<string, string | undefined> {
  const { model, port = 0, logLevel = "silent", settings } = options;
  return {
    ...Object.fromEntries(MODEL_SETTINGS.map((name) => [name, process.env[name]])),
    HOST: "127.0.0.1",
    TANDEM_API_KEY: newApiKey(),
    ...settings,
    ...(model === undefined ? {} : { TANDEM_MODEL: model }),
    PORT: String(port),
    LOG_LEVEL: logLevel,
    TANDEM_DATA_DIR: dataDir,
  };
}
