// Everything that the bench can measure, in the order in which it does.
import { changesGroup, stepsGroup } from "./figures/histories.ts";
import { manySessionsGroup } from "./figures/many-sessions.ts";
import { payloadGroup } from "./figures/payloads.ts";
import { roundTripGroups } from "./figures/round-trips.ts";
import { sessionGroups } from "./figures/sessions.ts";
import { waitingPollGroups } from "./figures/waiting-polls.ts";
import { wakeUpGroups } from "./figures/wake-ups.ts";
import type { Group } from "./group.ts";

/** All groups of figures. */
export const GROUPS: readonly Group[] = [
  ...roundTripGroups,
  ...wakeUpGroups,
  ...sessionGroups,
  ...waitingPollGroups,
  changesGroup,
  stepsGroup,
  manySessionsGroup,
  payloadGroup,
];
