// Flags that several commands share, and reading their values.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "./exit-codes.ts";
import type { Finish } from "./program.ts";

/** Flags of commands that talk to a server. */
export function addServerFlags(command: Command): Command {
  return addColourFlag(command)
    .option("--base-url <url>", "where the server is (TANDEM_BASE_URL)")
    .option("--api-key <key>", "the key for it (TANDEM_API_KEY)");
}

export function addColourFlag(command: Command): Command {
  return command.addOption(new Option("--no-color", "no colour").hideHelp());
}

export function addJsonFlag(command: Command): Command {
  return command.option("--json", "print JSON");
}

/** Examples under a command's help. */
export function addExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

/** Runs a command's work with its flags; those before the command count too. */
export function act<Options, Args extends unknown[]>(
  command: Command,
  finish: Finish,
  work: (options: Options, ...args: Args) => Promise<ExitCode>,
): Command {
  return command.action(async (...all: unknown[]) => {
    const args = all.slice(0, -2) as Args;
    finish(await work(readOptions<Options>(command), ...args));
  });
}

function readOptions<Options>(command: Command): Options {
  const options: Record<string, unknown> = {};
  for (let at: Command | null = command; at; at = at.parent) {
    // `--no-color` anywhere counts, and where it is not given it is `true`.
    const { color, ...others } = at.opts<Record<string, unknown>>();
    Object.assign(options, others, color === false ? { color } : {});
  }
  return options as Options;
}

/** Reads a whole number. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const bounds = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `of ${min} to ${max}`;
    throw new InvalidArgumentError(`A whole number ${bounds} is right.`);
  };
}

/** Reads a number of seconds over zero. */
export function seconds(text: string): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError("A number of seconds over 0 is right.");
}

/** Gathers the values of a flag that may be repeated. */
export function gather(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}
