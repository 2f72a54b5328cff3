// What a check of `tandem doctor` says.

/** One line of the report. */
export interface Check {
  name: string;
  verdict: "ok" | "warn" | "fail";
  /** What was found. */
  found: string;
  /** What to do about it; null when nothing is to be done. */
  advice: string | null;
}

/** All is well. */
export function ok(name: string, found: string): Check {
  return { name, verdict: "ok", found, advice: null };
}

/** It works, but not as somebody may expect. */
export function warn(name: string, found: string, advice: string): Check {
  return { name, verdict: "warn", found, advice };
}

/** It does not work. */
export function fail(name: string, found: string, advice: string): Check {
  return { name, verdict: "fail", found, advice };
}

/** Why something failed, in a few words: Node's connection errors often have a code alone. */
export function toReason(error: unknown): string {
  const { message, code, cause, errors } = Object(error) as Partial<AggregateError> & { code?: string };
  if (cause) return toReason(cause);
  return message || code || (errors?.[0] ? toReason(errors[0]) : String(error));
}
