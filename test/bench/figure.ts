// What the bench tells: one quantity with its percentiles, beside the floor that was measured in the same run.
import { medianOf, type Samples } from "./samples.ts";

/** One line of the bench's result. */
export interface Figure {
  name: string;
  unit: string;
  p50: number;
  p95: number;
  p99: number;
  /** What the same machine needs at least in the same run, in the same unit; null where nothing can be compared. */
  floor: number | null;
  /** p50 divided by the floor. */
  ratio: number | null;
}

/** What a figure is made of. */
export interface Measured {
  name: string;
  unit: string;
  samples: Samples;
  /** Default null. */
  floor?: number | null;
}

/** Makes a figure of what was measured. */
export function toFigure({ name, unit, samples, floor = null }: Measured): Figure {
  const p50 = medianOf(samples);
  return {
    name,
    unit,
    p50: toSignificant(p50),
    p95: toSignificant(samples.percentile(95)),
    p99: toSignificant(samples.percentile(99)),
    floor: floor === null ? null : toSignificant(floor),
    ratio: floor === null || floor === 0 ? null : toSignificant(p50 / floor),
  };
}

/** Makes a figure of one number that has no distribution. */
export function toSingleFigure(single: {
  name: string;
  unit: string;
  value: number;
  floor?: number | null;
}): Figure {
  const { value, floor = null } = single;
  const p50 = toSignificant(value);
  const ratio = floor === null || floor === 0 ? null : toSignificant(value / floor);
  return {
    ...{ name: single.name, unit: single.unit, p50, p95: p50, p99: p50, ratio },
    floor: floor === null ? null : toSignificant(floor),
  };
}

/** More digits than noise leaves would look like knowledge. */
const SIGNIFICANT_DIGITS = 4;

const toSignificant = (value: number): number => Number(value.toPrecision(SIGNIFICANT_DIGITS));
