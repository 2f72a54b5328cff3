// Measured values in an HDR histogram, and the percentiles that are told of them.
import { build } from "hdr-histogram-js";

/** Values of one quantity, kept to three significant digits. */
export interface Samples {
  /** Adds a value in the quantity's own unit. What clocks make negative counts as 0. */
  add(value: number): void;
  readonly count: number;
  /** The value that `percentile` of 100 values do not exceed. @throws when there are none */
  percentile(percentile: number): number;
}

/**
 * Starts with none.
 *
 * @param parts the histogram holds whole numbers: so many of them make one unit, and nothing smaller is told apart
 */
export function createSamples(parts = 1_000): Samples {
  // Highest and lowest only set the initial size: it grows with what comes.
  const histogram = build({
    useWebAssembly: false,
    numberOfSignificantValueDigits: 3,
    lowestDiscernibleValue: 1,
    highestTrackableValue: 2 ** 32,
    autoResize: true,
  });
  return {
    add(value) {
      if (!Number.isFinite(value)) throw new Error(`${value} is no measured value`);
      histogram.recordValue(Math.round(Math.max(0, value) * parts));
    },
    get count() {
      return histogram.totalCount;
    },
    percentile(percentile) {
      if (histogram.totalCount === 0) throw new Error("Nothing was measured");
      return histogram.getValueAtPercentile(percentile) / parts;
    },
  };
}

/** The middle of what was measured. */
export const medianOf = (samples: Samples): number => samples.percentile(50);
