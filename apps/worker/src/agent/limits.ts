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

/** Failed model requests in a row, the first one included, before the session fails. */
export const MAX_MODEL_ATTEMPTS = 6;

/** The first wait after a failed model request, doubled each time, in milliseconds. */
export const RETRY_BASE_MS = 1_000;

/** The longest wait between model requests that we choose ourselves, in milliseconds. */
export const RETRY_MAX_MS = 60_000;

/** The longest `Retry-After` of a provider that is honoured, in milliseconds. */
export const RETRY_AFTER_MAX_MS = 600_000;

/**
 * Most characters of images in one request, as base64: Google takes 20 MB of request in all, Anthropic 32 MB, and text is to
 * have room beside them. https://ai.google.dev/gemini-api/docs/image-understanding
 */
export const MAX_IMAGE_CHARACTERS = 15_000_000;

/** Most images of one request: Anthropic refuses more. https://platform.claude.com/docs/en/build-with-claude/vision */
export const MAX_IMAGES = 100;

/** Most tools that one search finds: each becomes part of every request that follows. */
export const MAX_FOUND_TOOLS = 5;

/** Characters of a query that are searched for, and how many words of it: a search must not hold up the worker. */
export const MAX_QUERY_CHARACTERS = 1_000;
export const MAX_QUERY_WORDS = 40;
