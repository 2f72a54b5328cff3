// The last step of a run: no tools are offered, and an answer is due.
import type { LastStep } from "@tandem/engine/domain/last-step";

/** What the model is told in its last step. */
export const LAST_STEP_WORDS: Record<LastStep, string> = {
  max_steps: "You have no steps left, and no tools. Give your final answer now, from what you know so far.",
  max_time:
    "Your time is over, and you have no tools. Give your final answer now, from what you know so far.",
  force_answer: "Give your final answer now, without tools, from what you know so far.",
};
