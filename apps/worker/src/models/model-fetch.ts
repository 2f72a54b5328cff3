// `fetch` for requests to models: what the AI SDK's providers need of it, at a third of its time and computing.
import { Readable } from "node:stream";
import { Agent, type Dispatcher, fetch, type RequestInit, request } from "undici";
import { decodeContent, decodeStream } from "./decode-content.ts";

/** How long an unused connection to a provider is kept, in milliseconds: tools often take longer than the usual 4 s. */
const KEEP_ALIVE_MS = 60_000;

/** The time of a request is limited by whoever makes it, and may be longer than these limits would let it be. */
const NO_LIMIT = 0;

const agent = new Agent({
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: NO_LIMIT,
  bodyTimeout: NO_LIMIT,
});

/** As `fetch` sends them where the caller says nothing else. */
const DEFAULT_HEADERS = {
  accept: "*/*",
  "accept-encoding": "br, gzip",
  "content-type": "text/plain;charset=UTF-8",
};

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Statuses with which no response may have a body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * `fetch` for requests to models. A reply resolves when it is there as a whole, but for a stream of events: that one
 * resolves when it begins. It breaks off with the signal's reason when that aborts, as `fetch`'s do.
 *
 * @throws {TypeError} `fetch failed` with its cause when the provider is out of reach or the reply breaks off, or the
 *   signal's reason when it aborts
 */
export const modelFetch: typeof globalThis.fetch = async (input, init) => {
  const post = toPlainPost(input, init);
  const response = post && (await untilAborted(send(post), post.signal));
  // Where a redirect may lead, and with which headers, is for `fetch` to say.
  return response ?? fetchAny(input, init);
};

const fetchAny = ((input: string, init?: RequestInit) =>
  fetch(input, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch;

/** A post of a text, which is all that providers send. */
interface PlainPost {
  url: URL;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal | null;
}

/** Null when a request is more than that, or is one that `fetch` refuses. */
function toPlainPost(...[input, init]: Parameters<typeof modelFetch>): PlainPost | null {
  const { method, headers, body, signal = null, ...others } = init ?? {};
  if (method !== "POST" || typeof body !== "string" || Object.keys(others).length > 0) return null;
  if (typeof input !== "string" || !URL.canParse(input)) return null;
  const url = new URL(input);
  const isPlain = /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  return isPlain ? { url, headers: { ...DEFAULT_HEADERS, ...toRecord(headers) }, body, signal } : null;
}

/** Names in small letters, so that none comes twice. */
function toRecord(headers: ConstructorParameters<typeof Headers>[0]): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

/** Null for a redirect: the request is to be made anew. */
async function send({ url, signal, ...post }: PlainPost): Promise<Response | null> {
  try {
    const response = await request(url, { ...{ method: "POST", dispatcher: agent, signal }, ...post });
    const { statusCode, headers, body } = response;
    if (isEventStream(response)) return toStream(response, signal);
    if (REDIRECTS.has(statusCode)) {
      await body.dump();
      return null;
    }
    const bytes = await decodeContent(new Uint8Array(await body.arrayBuffer()), headers["content-encoding"]);
    return new Response(WITHOUT_BODY.has(statusCode) ? null : bytes, {
      status: statusCode,
      headers: toHeaders(headers),
    });
  } catch (error) {
    throw new TypeError("fetch failed", { cause: error });
  }
}

/** True for a good reply that is a stream of events. Errors are read as a whole. */
function isEventStream({ statusCode, headers }: Dispatcher.ResponseData): boolean {
  return statusCode === 200 && String(headers["content-type"]).startsWith("text/event-stream");
}

function toStream({ headers, body }: Dispatcher.ResponseData, signal: AbortSignal | null): Response {
  const content = decodeStream(body, headers["content-encoding"]);
  if (signal) {
    const abort = () => content.destroy(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    content.once("close", () => signal.removeEventListener("abort", abort));
    if (signal.aborted) abort();
  }
  return new Response(Readable.toWeb(content) as ReadableStream<Uint8Array<ArrayBuffer>>, {
    status: 200,
    headers: toHeaders(headers),
  });
}

/** At once: by itself, a request is aborted only when its connection is open. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return work;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener("abort", abort));
}

function toHeaders(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
}
