// Figures come in groups: those that are measured on one stack, in the same rounds.

import type { Closers } from "./closers.ts";
import type { Figure } from "./figure.ts";
import type { Stage } from "./stage.ts";

/** Figures that are measured together. */
export interface Group {
  /** Of the figures it gives. */
  names: readonly string[];
  /** True when it cannot be measured without a Redis. */
  needsRedis?: boolean;
  /** True when it takes too long for a quick run that does not name it. */
  isLong?: boolean;
  measure(run: Run): Promise<Figure[]>;
}

/** What a group measures with. */
export interface Run {
  stage: Stage;
  /** How often floor and figure are measured in turn. */
  rounds: number;
  /** True for a run that is to be short. */
  quick: boolean;
  /** Whether a figure is wanted; a group need not measure the others. */
  wants(name: string): boolean;
  /** Closes what the group opens, when it has been measured or was interrupted. */
  closers: Closers;
  /** Tells a person how far it is. */
  tell(line: string): void;
}
