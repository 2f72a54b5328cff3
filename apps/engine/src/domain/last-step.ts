// The last step of a run: no tools are offered, and an answer is due.

/** Why a step is the last one. */
export type LastStep = "max_steps" | "max_time" | "force_answer";

/** Why a session's next step is the last one; null when it is not. */
export function findLastStep(session: {
  lastStep: "force_answer" | "max_time" | null;
  maxSteps: number | null;
  runSteps: number;
}): LastStep | null {
  if (session.lastStep !== null) return session.lastStep;
  return session.maxSteps !== null && session.runSteps >= session.maxSteps ? "max_steps" : null;
}
