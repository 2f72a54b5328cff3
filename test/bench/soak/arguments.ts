// What a person may ask of the soak.
import { parseArgs } from "node:util";
import { ArgumentError } from "../arguments.ts";

/** How the soak is run. */
export interface SoakOptions {
  /** True for one JSON object on standard output, false for a table. */
  json: boolean;
  backend: "postgres" | "redis";
  /** How long the load goes on. */
  seconds: number;
}

const USAGE = "npm run soak -- [--json] [--backend postgres|redis] [--seconds N]";
/** Below this there are not enough samples to compare. */
const MIN_SECONDS = 20;
const MAX_SECONDS = 86_400;

/**
 * Reads the command line.
 *
 * @throws {ArgumentError} that names what is wrong and what would be right
 */
export function parseSoakArguments(args: readonly string[]): SoakOptions {
  const { json, backend, seconds } = parse(args);
  if (backend !== "postgres" && backend !== "redis")
    throw new ArgumentError(`--backend is ${JSON.stringify(backend)}: postgres or redis is right`);
  const count = Number(seconds);
  if (!Number.isInteger(count) || count < MIN_SECONDS || count > MAX_SECONDS) {
    const right = `a whole number of ${MIN_SECONDS} to ${MAX_SECONDS} is right`;
    throw new ArgumentError(`--seconds is ${JSON.stringify(seconds)}: ${right}`);
  }
  return { json, backend, seconds: count };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        json: { type: "boolean", default: false },
        backend: { type: "string", default: "postgres" },
        seconds: { type: "string", default: "180" },
      },
    }).values;
  } catch (error) {
    throw new ArgumentError(`${(error as Error).message}\n${USAGE}`, { cause: error });
  }
}
