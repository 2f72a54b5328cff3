import type { Swept } from "./metrics.ts";
import type { Telemetry } from "./telemetry.ts";

/** Counts what a sweep found to do that should have been done before. */
export function noteSwept({ metrics }: Telemetry, what: Swept, count: number): void {
  metrics.swept.inc({ what }, count);
}
