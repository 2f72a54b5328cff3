// What processes of a run have complained of in their logs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Pino's number for `warn`. */
const WARN = 40;
/** Pino's number for `error`. */
export const ERROR = 50;

/** A line of a log that should make somebody look. */
export interface Complaint {
  log: string;
  /** Pino's; what is no JSON line comes from Node itself, and counts as an error. */
  level: number;
  line: string;
}

/** The complaints in all logs of a folder, warnings included. */
export function readComplaints(folder: string): Complaint[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .flatMap((log) =>
      readFileSync(join(folder, log), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => ({ log, level: levelOf(line), line })),
    )
    .filter(({ level }) => level >= WARN);
}

function levelOf(line: string): number {
  try {
    return Number(JSON.parse(line).level);
  } catch {
    return ERROR;
  }
}
