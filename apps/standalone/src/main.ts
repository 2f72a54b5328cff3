// `npm start`: the whole stack in one process, until a signal ends it.
import { runProcess } from "@tandem/engine/process";
import { loadConfig } from "./config.ts";
import { toGreeting } from "./greeting.ts";
import { startStandalone } from "./start-standalone.ts";

await runProcess("tandem", loadConfig, async (config, log) => {
  const stack = await startStandalone(config, log);
  process.stdout.write(toGreeting(stack, config));
  return () => stack.close();
});
