// Checks that need nothing but this machine: Node, the settings, the data folder, the models.
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DEMO_MODEL, type ModelSettings } from "@tandem/engine/domain/models";
import { SettingsError } from "@tandem/engine/domain/settings";
import { loadConfig, type StandaloneConfig } from "@tandem/standalone/config";
import { type Check, fail, ok, toReason, warn } from "./check.ts";

/** The oldest Node that runs all of this. */
const OLDEST_NODE = [20, 19] as const;

export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  if (!isOld) return ok("node", version);
  return fail("node", `${version} is too old`, `Install Node ${OLDEST_NODE.join(".")} or newer.`);
}

/** Reads the settings as `tandem up` would; null when it would not start with them. */
export function checkSettings(env: NodeJS.ProcessEnv): { checks: Check[]; config: StandaloneConfig | null } {
  try {
    const config = loadConfig(env);
    return { checks: [ok("settings", "valid"), checkModels(config)], config };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const advice = "Correct it where it is set; README, Settings, tells what is right.";
    return { checks: error.problems.map((problem) => fail("settings", problem, advice)), config: null };
  }
}

/** Which providers can be used. Keys are not shown. */
function checkModels({ api, isDemoModel }: StandaloneConfig): Check {
  const { defaultModel, ...providers } = api.models;
  const names = Object.keys(providers satisfies Partial<ModelSettings>);
  const found = `default ${defaultModel}${names.length > 0 ? `; configured: ${names.join(", ")}` : ""}`;
  if (!isDemoModel && defaultModel !== DEMO_MODEL) return ok("models", found);
  const advice = "demo/keyword only matches words: for a real model set TANDEM_MODEL and its provider's key.";
  return warn("models", found, advice);
}

export async function checkDataDir(dataDir: string): Promise<Check> {
  const isThere = await stat(dataDir).then(
    (entry) => entry.isDirectory(),
    () => null,
  );
  const advice = "Give another folder with TANDEM_DATA_DIR, or make this one writable.";
  if (isThere === false) return fail("data folder", `${dataDir} is no folder`, advice);
  try {
    await access(isThere ? dataDir : dirname(dataDir), constants.W_OK);
    return ok("data folder", `${dataDir}${isThere ? "" : " (made at the first start)"}`);
  } catch (error) {
    return fail("data folder", `${dataDir} cannot be written: ${toReason(error)}`, advice);
  }
}
