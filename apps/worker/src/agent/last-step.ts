// The last step of a run: no tools are offered, and an answer is due.
import type { ClaimedSessionRow } from "@tandem/engine/postgres/session-row";

/** Why a step is the last one. */
export type LastStep = "max_steps" | "max_time" | "force_answer";

/** What the model is told in its last step. */
export const LAST_STEP_WORDS: Record<LastStep, string> = {
  max_steps: "You have no steps left, and no tools. Give your final answer now, from what you know so far.",
  max_time:
    "Your time is over, and you have no tools. Give your final answer now, from what you know so far.",
  force_answer: "Give your final answer now, without tools, from what you know so far.",
};

/** Why the session's next step is the last one; null when it is not. */
export function findLastStep(session: ClaimedSessionRow): LastStep | null {
  if (session.lastStep !== null) return session.lastStep;
  return session.maxSteps !== null && session.runSteps >= session.maxSteps ? "max_steps" : null;
}
