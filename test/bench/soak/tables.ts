// A soak for a person.
import { alignColumns } from "../table.ts";
import type { Sample } from "./sample.ts";
import type { Check } from "./verdict.ts";

/** Enough to see a slope. */
const LINES = 16;

/** Some of the samples, a line each. */
export function toSampleTable(samples: readonly Sample[]): string {
  const every = Math.max(1, Math.floor(samples.length / LINES));
  const shown = samples.filter((_, i) => i % every === 0 || i === samples.length - 1);
  const columns = Object.keys(samples[0] ?? {}) as (keyof Sample)[];
  return alignColumns([columns, ...shown.map((sample) => columns.map((column) => String(sample[column])))], {
    left: 0,
  });
}

/** What was compared, a line each. */
export function toCheckTable(checks: readonly Check[]): string {
  const rows = checks.map(({ name, first, last, allowed, ok }) => [
    ...[name, String(first), String(last), String(allowed), ok ? "ok" : "WRONG"],
  ]);
  return alignColumns([["quantity", "first quarter", "last quarter", "at most", "verdict"], ...rows], {
    left: 1,
  });
}
