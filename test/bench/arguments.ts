// What a person may ask of the bench.
import { parseArgs } from "node:util";

/** How the bench is run. */
export interface BenchOptions {
  /** True for one JSON object on standard output, false for a table. */
  json: boolean;
  /** Beginnings of the names of wanted figures; empty for all. */
  only: string[];
  /** How often figure and floor are measured in turn. */
  rounds: number;
  /** True for a short run that shows that everything works, and less of how fast. */
  quick: boolean;
}

/** Told to whoever asked for what does not exist. */
export class ArgumentError extends Error {}

const DEFAULT_ROUNDS = 4;
const QUICK_ROUNDS = 1;
const MAX_ROUNDS = 100;

/**
 * Reads the command line.
 *
 * @param names the figures that exist
 * @throws {ArgumentError} that names what is wrong and what would be right
 */
export function parseBenchArguments(args: readonly string[], names: readonly string[]): BenchOptions {
  const { json, only, rounds, quick } = parse(args);
  const wanted = only.flatMap((list) => list.split(",")).map((name) => name.trim());
  for (const name of wanted) {
    if (name !== "" && names.some((known) => known.startsWith(name))) continue;
    throw new ArgumentError(
      `There is no figure ${JSON.stringify(name)}. --only takes names or their beginnings, with commas:\n  ` +
        names.join("\n  "),
    );
  }
  // A whole name is that figure alone, not also those that it begins.
  const chosen = wanted.flatMap((name) =>
    names.includes(name) ? [name] : names.filter((known) => known.startsWith(name)),
  );
  return { json, quick, only: chosen, rounds: toRounds(rounds, quick) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        json: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        only: { type: "string", multiple: true, default: [] },
        rounds: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new ArgumentError(`${(error as Error).message}\n${USAGE}`, { cause: error });
  }
}

const USAGE = "npm run bench -- [--json] [--quick] [--only name,name] [--rounds N]";

function toRounds(text: string | undefined, isQuick: boolean): number {
  if (text === undefined) return isQuick ? QUICK_ROUNDS : DEFAULT_ROUNDS;
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= MAX_ROUNDS) return rounds;
  throw new ArgumentError(
    `--rounds is ${JSON.stringify(text)}: a whole number of 1 to ${MAX_ROUNDS} is right`,
  );
}

/** Whether a figure is wanted. */
export function isWanted(name: string, only: readonly string[]): boolean {
  return only.length === 0 || only.includes(name);
}
