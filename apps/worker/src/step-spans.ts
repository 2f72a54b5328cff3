// The spans of one step. Its own has an id that follows from the claim, so that those below it can be sent before it.
import type { ClaimedSessionRow } from "@tandem/engine/postgres/session-row";
import { type Span, toStepSpanId } from "@tandem/engine/telemetry/spans";
import type { Tracer } from "@tandem/engine/telemetry/tracer";

/** The spans of a claimed step. Times are of `performance.now()`. */
export interface StepSpans {
  /** The wait that ended with the claim. */
  addWait(): void;
  /** A part of the step, from a moment until now. */
  addPart(name: string, fromMs: number, more?: Partial<Span>): void;
  /** The step itself, from its beginning until now. */
  addStep(attributes: Span["attributes"], isError: boolean): void;
}

const NO_SPANS: StepSpans = {
  addWait: () => undefined,
  addPart: () => undefined,
  addStep: () => undefined,
};

/** Makes the spans of a step that began at `beganMs`; none when nobody wants them. */
export function createStepSpans(tracer: Tracer, session: ClaimedSessionRow, beganMs: number): StepSpans {
  if (!tracer.isOn) return NO_SPANS;
  const { id: sessionId, fence, waitedMs } = session;
  const stepId = toStepSpanId(sessionId, fence);
  // One pair of clocks for the whole step: the one that runs evenly, and where it stands on the other.
  const epochMs = Date.now() - performance.now();
  const now = () => epochMs + performance.now();
  const startMs = epochMs + beganMs;
  return {
    addWait() {
      tracer.record({
        sessionId,
        name: "wait for a worker",
        startMs: startMs - waitedMs,
        endMs: startMs,
        attributes: {},
      });
    },
    addPart(name, fromMs, more = {}) {
      tracer.record({
        sessionId,
        name,
        parentId: stepId,
        startMs: epochMs + fromMs,
        endMs: now(),
        attributes: {},
        ...more,
      });
    },
    addStep(attributes, isError) {
      tracer.record({ sessionId, name: "step", id: stepId, startMs, endMs: now(), attributes, isError });
    },
  };
}
