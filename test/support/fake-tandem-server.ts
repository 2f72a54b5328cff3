// A Tandem server with one session, which does what a test tells it to: for the SDK's wait loop, faults included.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type FakeApproval, type FakeCall, FakeSession } from "./fake-session.ts";
import { FakeStreams } from "./fake-streams.ts";

export { fakeApproval, fakeCall } from "./fake-session.ts";

/** The session that every `POST /sessions` gives. */
export const fakeSessionId = "01890000-0000-7000-8000-000000000001";

/** One request as it came in. */
export interface FakeRequest {
  method: string;
  /** Without the query and `/api/v2`. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
  /** Becomes true when the client goes away before it has the whole answer. */
  isAborted: boolean;
}

/**
 * A reply in place of the server's own; `hang` never answers, `disconnect` hangs up, `late` does as it is told and hangs
 * up before it says so. A function writes the reply itself.
 */
export type FakeReply = FakeAnswer | "hang" | "disconnect" | "late" | ((response: ServerResponse) => void);

interface FakeAnswer {
  status: number;
  body?: unknown;
  text?: string;
  headers?: Record<string, string>;
}

export interface FakeTandemServer {
  baseUrl: string;
  /** Every request so far, in the order they came. */
  requests: FakeRequest[];
  /** The bodies posted as results, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  results: any[];
  /** Requests of one method and path ending. */
  requestsTo(method: string, ending: string): FakeRequest[];
  /** The model asks for calls. */
  call(...calls: FakeCall[]): void;
  /** The model answers, and the session is completed. */
  answer(answer: unknown): void;
  /** Calls of the model need an approval. */
  askFor(...approvals: FakeApproval[]): void;
  /** Somebody else decides on a call. */
  decide(callId: string, decision: "allow" | "deny"): void;
  /** The session fails. */
  fail(error: string): void;
  /** The session is cancelled, by whomever. */
  cancel(): void;
  /** The streams that are open. Off until a test turns them on: then the route answers 404. */
  streams: FakeStreams;
  /** Adds events, and wakes the polls. */
  append(...events: { type: string; data: unknown }[]): void;
  /** What happens when the last pending call is settled. Default: the answer "Done." */
  onResumed: () => void;
  /** The most events of one reply, as a large history is cut. Default: no bound. */
  pageSize: number;
  /** Looks at each request first; a reply given here is sent in place of the server's own. */
  intercept: (request: FakeRequest) => FakeReply | undefined;
  /** Answers every waiting poll with 204. */
  endPolls(): void;
  /** How many polls wait. */
  waitingPolls(): number;
  close(): Promise<void>;
}

/** Gives each of `replies` once, to requests of one method and path ending; then lets them through. */
export function replyOnce(method: string, ending: string, ...replies: FakeReply[]) {
  const left = [...replies];
  return (request: FakeRequest): FakeReply | undefined =>
    request.method === method && request.path.endsWith(ending) ? left.shift() : undefined;
}

/** Starts a server on a free port. */
export async function startFakeTandemServer(): Promise<FakeTandemServer> {
  const session = new FakeSession();
  const fake: FakeTandemServer = {
    baseUrl: "",
    requests: [],
    results: [],
    requestsTo: (method, ending) =>
      fake.requests.filter((request) => request.method === method && request.path.endsWith(ending)),
    call: (...calls) => session.call(calls),
    answer: (answer) => session.answer(answer),
    askFor: (...approvals) => session.askFor(approvals),
    decide: (callId, decision) => session.decide(callId, decision),
    fail: (error) => session.fail(error),
    cancel: () => session.cancel(),
    streams: new FakeStreams(session),
    append: (...events) => session.append(...events),
    onResumed: () => session.answer("Done."),
    pageSize: Number.POSITIVE_INFINITY,
    intercept: () => undefined,
    endPolls: () => session.wake({ isOver: true }),
    waitingPolls: () => session.pollers.size,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
  const server = createServer((request, response) => {
    void answer({ fake, session, request, response });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The fake server has no port");
  fake.baseUrl = `http://127.0.0.1:${address.port}`;
  return fake;
}

interface Exchange {
  fake: FakeTandemServer;
  session: FakeSession;
  request: IncomingMessage;
  response: ServerResponse;
}

async function answer({ fake, session, request, response }: Exchange): Promise<void> {
  const seen = await parse(request);
  response.once("close", () => {
    seen.isAborted = !response.writableFinished;
  });
  fake.requests.push(seen);
  const instead = fake.intercept(seen);
  if (instead === "hang") return;
  if (instead === "disconnect") return void response.destroy();
  if (typeof instead === "function") return instead(response);
  if (instead && instead !== "late") return send(response, instead);
  const path = `${seen.method} ${seen.path.replace(fakeSessionId, "{id}")}`;
  if (path === "GET /sessions/{id}/changes") return poll({ fake, session, seen, response });
  if (path === "GET /sessions/{id}/stream" && fake.streams.isOn) return fake.streams.open(seen, response);
  const answer = reply(fake, session, { path, body: seen.body });
  if (instead === "late") response.destroy();
  else send(response, answer);
}

function reply(
  fake: FakeTandemServer,
  session: FakeSession,
  { path, body }: Pick<FakeRequest, "path" | "body">,
): FakeAnswer {
  switch (path) {
    case "POST /sessions":
      return { status: 201, body: { id: fakeSessionId, status: { status: session.status } } };
    case "GET /sessions/{id}":
      return { status: 200, body: { id: fakeSessionId, status: { status: session.status } } };
    case "GET /sessions/{id}/status":
      return { status: 200, body: { status: session.status } };
    case "DELETE /sessions/{id}":
      session.cancel();
      return { status: 204 };
    case "POST /sessions/{id}/messages":
      session.message();
      return { status: 202 };
    case "POST /sessions/{id}/tool_results": {
      fake.results.push(body);
      const entries = (body.results ?? [body]) as { tool_req: { id: string } }[];
      const receipt = session.settle(entries.map((entry) => entry.tool_req.id));
      if (receipt.resumed) fake.onResumed();
      return { status: 202, body: receipt };
    }
    case "POST /sessions/{id}/approvals":
      session.decide(body.call_id, body.decision);
      return { status: 202, body: { receipts: [{ id: body.call_id, status: "accepted" }] } };
    default:
      if (path.endsWith("/progress")) return { status: 202, body: { deadline: null } };
      return {
        status: 404,
        body: { detail: `There is no ${path}.`, code: "not_found", request_id: "req-1" },
      };
  }
}

function poll(exchange: Omit<Exchange, "request"> & { seen: FakeRequest }): void {
  const { fake, session, seen, response } = exchange;
  const cursor = Number(seen.query.get("from_index") ?? 0);
  const withEvents = seen.query.get("include_events") !== "false";
  const tell = ({ isOver }: { isOver: boolean }): void => {
    const isNews = session.events.length > cursor;
    const isWaiting = !isNews && !isOver && !session.isTerminal && seen.query.get("wait_for_seconds") !== "0";
    if (isWaiting && seen.query.has("wait_for_seconds")) return;
    session.pollers.delete(tell);
    if (isNews)
      send(response, { status: 200, body: session.changes(cursor, { withEvents, pageSize: fake.pageSize }) });
    else send(response, { status: 204, headers: { etag: `"${cursor}"` } });
  };
  session.pollers.add(tell);
  response.once("close", () => session.pollers.delete(tell));
  tell({ isOver: false });
}

async function parse(request: IncomingMessage): Promise<FakeRequest> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += chunk;
  const url = new URL(request.url ?? "/", "http://fake");
  return {
    method: request.method ?? "",
    path: url.pathname.replace(/^\/api\/v2/, ""),
    query: url.searchParams,
    headers: request.headers,
    body: text === "" ? undefined : JSON.parse(text),
    isAborted: false,
  };
}

function send(response: ServerResponse, reply: FakeAnswer): void {
  if (response.destroyed) return;
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
  response.end(reply.text ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body)));
}
