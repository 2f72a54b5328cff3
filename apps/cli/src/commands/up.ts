// `tandem up`: the whole stack in one process, as `npm start` has it.
import { runStandalone } from "@tandem/standalone/run-standalone";
import { findDataDir } from "../data-dir.ts";

/** The flags of `tandem up`. They stand for the settings of the same names. */
export interface UpOptions {
  port?: number;
  dataDir?: string;
  model?: string;
}

/** Runs until a signal ends it, which exits the process. */
export async function up({ port, dataDir, model }: UpOptions): Promise<never> {
  if (port !== undefined) process.env.PORT = String(port);
  if (dataDir !== undefined) process.env.TANDEM_DATA_DIR = dataDir;
  if (model !== undefined) process.env.TANDEM_MODEL = model;
  process.env.TANDEM_DATA_DIR = findDataDir();
  await runStandalone();
  return new Promise<never>(() => undefined);
}
