import { Agent, fetch, type RequestInit } from "undici";

/** How long an unused connection to a provider is kept, in milliseconds: tools often take longer than the usual 4 s. */
const KEEP_ALIVE_MS = 60_000;

/** The time of a request is limited by whoever makes it, and may be longer than these limits would let it be. */
const NO_LIMIT = 0;

const agent = new Agent({
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: NO_LIMIT,
  bodyTimeout: NO_LIMIT,
});

/** `fetch` for requests to models. */
export const modelFetch = ((input: string, init?: RequestInit) =>
  fetch(input, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch;
