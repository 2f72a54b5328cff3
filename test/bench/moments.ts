// When results came in and model requests went out, as the processes in between have seen it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../support/wait-for.ts";
import type { StackOptions } from "./stack.ts";
import type { Stage } from "./stage.ts";

/** The environment variable that names the file of moments. */
export const MOMENTS_FILE = "BENCH_MOMENTS_FILE";

/** The moments of one stack that plays one session at a time. */
export interface Moments {
  /** What its processes are started with. */
  options: Pick<StackOptions, "env" | "nodeFlags">;
  /**
   * The trips since the last time this was asked, in milliseconds: from each post of results to the next model request.
   *
   * @param count how many they are
   */
  takeTrips(count: number): Promise<number[]>;
}

/** Opens the file of a stack's moments. */
export function openMoments(stage: Stage, name: string): Moments {
  const file = join(stage.folder, `${name}.moments`);
  writeFileSync(file, "");
  let read = 0;
  return {
    options: { env: { [MOMENTS_FILE]: file }, nodeFlags: ["--import", stage.paths.moments] },
    takeTrips: (count) =>
      waitFor(
        () => {
          const lines = readFileSync(file, "utf8").slice(read);
          const trips = toTrips(lines);
          if (trips.length < count) return null;
          // A session has ended by then, so that no moment of it is still to come.
          read += lines.length;
          return trips;
        },
        { what: `${count} more trips in ${file}` },
      ),
  };
}

/** Each line is a moment; those of two processes come in any order. */
function toTrips(lines: string): number[] {
  const moments = lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "))
    .map(([what, at]) => ({ what, at: Number(at) }))
    .sort((one, other) => one.at - other.at);
  return moments.flatMap(({ what, at }, i) => {
    const left = moments.slice(i).find((moment) => moment.what === "left");
    return what === "received" && left ? [left.at - at] : [];
  });
}
