// The whole stack as a process of its own, until a signal ends it.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProcess } from "@tandem/engine/process";
import { loadConfig } from "./config.ts";
import { toGreeting } from "./greeting.ts";
import { startStandalone } from "./start-standalone.ts";

/** Starts the stack by the environment's settings, and says how to use it. */
export async function runStandalone(): Promise<void> {
  await runProcess("tandem", loadConfig, async (config, log) => {
    const stack = await startStandalone(config, log);
    const address = join(config.dataDir, "base-url");
    // For commands that work beside it: where it listens. A data folder is needed only by an embedded database or key.
    await writeFile(address, `${stack.baseUrl}\n`).catch(() => undefined);
    process.stdout.write(toGreeting(stack, config));
    return async () => {
      await rm(address, { force: true });
      await stack.close();
    };
  });
}
