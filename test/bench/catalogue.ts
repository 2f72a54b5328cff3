// Everything that the bench can measure, in the order in which it does.
import { roundTripGroups } from "./figures/round-trips.ts";
import { sessionGroups } from "./figures/sessions.ts";
import { wakeUpGroups } from "./figures/wake-ups.ts";
import type { Group } from "./group.ts";

/** All groups of figures. */
export const GROUPS: readonly Group[] = [...roundTripGroups, ...wakeUpGroups, ...sessionGroups];
