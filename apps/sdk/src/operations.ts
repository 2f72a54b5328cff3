// What the generated operations are made of.

/** What an operation takes: what the document says of it, and how to send it. */
export type Options<Data> = Omit<Data, "url" | "headers"> & {
  headers?: Record<string, string>;
  /** Aborts the request. */
  signal?: AbortSignal | null;
};

/** What an operation gives: the data of a reply that is a success. */
export type Reply<Responses> = Responses[keyof Responses];

/** One call of an operation. */
export interface Operation {
  /** With `{name}` where `path` has a value. */
  url: string;
  path?: Record<string, unknown> | undefined;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | null | undefined;
}

/** Sends a request, and gives the data of its reply. */
export type Send = (method: string, operation: Operation) => Promise<unknown>;

/** The base of the generated class. */
export class Operations {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  protected request<Responses>(method: string, url: string, options?: object): Promise<Reply<Responses>> {
    return this.#send(method, { ...options, url }) as Promise<Reply<Responses>>;
  }
}
