// The states of a tool call, from the model's request to what settled it.

/**
 * `refused`: never offered, since its arguments did not fit or its tool is unknown. `withdrawn`: settled by the server, as
 * the session needed no result of it any more.
 */
export const CALL_STATES = [
  "awaiting_approval",
  "pending",
  "answered",
  "denied",
  "timed_out",
  "withdrawn",
  "refused",
] as const;

/** One of {@link CALL_STATES}. */
export type CallState = (typeof CALL_STATES)[number];
