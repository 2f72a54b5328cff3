// The command line: reads it, runs the command, and leaves with its exit code.
import { readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { createProgram } from "./program.ts";
import { leave, watchForStrayErrors } from "./stray-ends.ts";
import { flush, note, watchForClosedPipe } from "./terminal/output.ts";

async function main(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.ok;
  const program = createProgram(readVersion(), (code) => {
    exitCode = code;
  });
  // Also for the commands within.
  const throwing = [program];
  for (const command of throwing) {
    command.exitOverride();
    throwing.push(...command.commands);
  }
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return tell(error);
  }
}

async function tell(error: unknown): Promise<ExitCode> {
  const { explainError } = await import("./explain-error.ts");
  const { text, exitCode } = explainError(error);
  note(`tandem: ${text}`);
  return exitCode;
}

/** From the manifest, which lies above the source as above the build. */
function readVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

watchForClosedPipe(() => leave(exitCodes.ok));
watchForStrayErrors(async (error) => {
  const exitCode = await tell(error);
  await flush();
  leave(exitCode);
});
const exitCode = await main(process.argv);
await flush();
// A file of tools may keep timers or connections open; nobody needs them any more.
leave(exitCode);
