// Limits of the loop, each with the failure it prevents.

/** How often a model may mend an answer that does not fit its format, before the session fails. */
export const MAX_CORRECTIONS = 3;

/** How often a model that said nothing at all is asked again, before the session fails. */
export const MAX_NUDGES = 2;

/** Steps in a row in which a model only made calls that nobody can run, before the session fails. */
export const MAX_USELESS_STEPS = 10;

/** Most calls of one reply that are taken; a runaway reply must not fill the database. */
export const MAX_CALLS_PER_STEP = 128;

/** Longest time for checking the arguments of all calls of a reply, in milliseconds: a worker must keep its leases. */
export const CHECK_BUDGET_MS = 1_000;

/** Longest JSON text of one call's arguments: clients send them back with the result, in a body with a limit. */
export const MAX_ARGUMENT_CHARACTERS = 1_000_000;

/** Failed model requests in a row, the first one included, before the session fails. */
export const MAX_MODEL_ATTEMPTS = 6;

/** The first wait after a failed model request, doubled each time, in milliseconds. */
export const RETRY_BASE_MS = 1_000;

/** The longest wait between model requests that we choose ourselves, in milliseconds. */
export const RETRY_MAX_MS = 60_000;

/** The longest `Retry-After` of a provider that is honoured, in milliseconds. */
export const RETRY_AFTER_MAX_MS = 600_000;
