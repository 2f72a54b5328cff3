// A Tandem server as those see it who serve tools: calls that wait, claims, results. It does what a test tells it to.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A call that waits, or waited. */
export interface FeedCall {
  sessionId: string;
  id: string;
  toolName: string;
  args: Record<string, unknown>;
  agent: string;
  state: "pending" | "answered" | "gone";
  claimant: string | null;
  claimedUntil: number;
  /** Every claim that was taken, as its claimant and lease. */
  claims: { claimant: string; leaseS: number }[];
  /** What was posted for it, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  results: any[];
}

/** One request as it came in. */
export interface FeedRequest {
  method: string;
  /** Without the query and `/api/v2`. */
  path: string;
  query: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  body: any;
}

/** A reply in place of the server's own; `disconnect` hangs up. */
export type FeedReply = { status: number; body?: unknown; headers?: Record<string, string> } | "disconnect";

export interface FakeToolFeed {
  baseUrl: string;
  requests: FeedRequest[];
  requestsTo(method: string, ending: string): FeedRequest[];
  /** A session asks for a call. */
  offer(call: { toolName: string } & Partial<FeedCall>): FeedCall;
  /** Nobody waits for the call any more. */
  withdraw(call: FeedCall): void;
  /** Lets others have the call. */
  lapse(call: FeedCall): void;
  /** Looks at each request first; a reply given here is sent in place of the server's own. */
  intercept: (request: FeedRequest) => FeedReply | undefined;
  /** How many feeds wait. */
  waiting(): number;
  close(): Promise<void>;
}

/** Starts a server on a free port. */
export async function startFakeToolFeed(): Promise<FakeToolFeed> {
  const calls: FeedCall[] = [];
  const pollers = new Set<() => void>();
  const wake = () => {
    for (const poller of pollers) poller();
  };
  const feed: FakeToolFeed = {
    baseUrl: "",
    requests: [],
    requestsTo: (method, ending) =>
      feed.requests.filter((request) => request.method === method && request.path.endsWith(ending)),
    offer(given) {
      const call: FeedCall = {
        ...{ sessionId: crypto.randomUUID(), id: `call_${calls.length}`, args: {}, agent: "x" },
        ...{ state: "pending", claimant: null, claimedUntil: 0, claims: [], results: [], ...given },
      };
      calls.push(call);
      wake();
      return call;
    },
    withdraw(call) {
      call.state = "gone";
    },
    lapse(call) {
      call.claimedUntil = 0;
      wake();
    },
    intercept: () => undefined,
    waiting: () => pollers.size,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };

  const findOffered = (query: URLSearchParams) =>
    calls.filter(
      ({ state, claimedUntil, toolName, agent }) =>
        state === "pending" &&
        claimedUntil <= Date.now() &&
        query.getAll("tools").includes(toolName) &&
        (!query.has("agents") || query.getAll("agents").includes(agent)),
    );
  const answerFeed = async ({ query }: FeedRequest, response: ServerResponse) => {
    if (findOffered(query).length === 0) await waitForCalls(query, response);
    const items = findOffered(query).map(({ sessionId, agent, id, toolName, args }) => ({
      ...{ session_id: sessionId, agent, created_at: new Date().toISOString() },
      call: { tool_name: toolName, args, id, deadline: null, capability: "read" },
    }));
    send(response, { status: 200, body: { items } });
  };
  const waitForCalls = (query: URLSearchParams, response: ServerResponse) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (findOffered(query).length > 0) end();
      };
      const end = () => {
        pollers.delete(look);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(end, Number(query.get("wait_for_seconds")) * 1_000);
      response.once("close", end);
      pollers.add(look);
    });
  const claim = (call: FeedCall, { claimant, lease_s }: { claimant: string; lease_s: number }): FeedReply => {
    if (call.state !== "pending") return refuse("call_not_pending");
    if (call.claimedUntil > Date.now() && call.claimant !== claimant) return refuse("call_claimed");
    const previous = call.claimant;
    call.claims.push({ claimant, leaseS: lease_s });
    call.claimant = lease_s > 0 ? claimant : null;
    call.claimedUntil = lease_s > 0 ? Date.now() + lease_s * 1_000 : 0;
    if (lease_s === 0) wake();
    return { status: 200, body: { claimed_until: null, previous_claimant: previous } };
  };
  const settle = (call: FeedCall, body: unknown): FeedReply => {
    if (call.state !== "pending") return refuse("result_conflict");
    call.results.push(body);
    call.state = "answered";
    return { status: 202, body: { receipts: [{ id: call.id, status: "accepted" }], pending: [] } };
  };
  const answer = async (request: FeedRequest, response: ServerResponse) => {
    const scripted = feed.intercept(request);
    if (scripted) return send(response, scripted);
    const { method, path, body } = request;
    if (path === "/tool_calls") return answerFeed(request, response);
    const [, , sessionId, part, callId] = path.split("/");
    const id = callId ?? body?.tool_req?.id;
    const call = calls.find((call) => call.sessionId === sessionId && (id === undefined || call.id === id));
    if (!call) return send(response, { status: 404, body: { detail: "No.", code: "session_not_found" } });
    if (part === "tool_results") return send(response, settle(call, body));
    if (path.endsWith("/claim")) return send(response, claim(call, body));
    if (path.endsWith("/progress")) return send(response, { status: 202, body: { deadline: null } });
    if (method === "DELETE") feed.withdraw(call);
    send(response, { status: 204 });
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://fake");
    const path = url.pathname.replace("/api/v2", "");
    const text = await readText(request);
    const body = text === "" ? null : JSON.parse(text);
    const seen = { method: request.method ?? "", path, query: url.searchParams, body };
    feed.requests.push(seen);
    await answer(seen, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The fake feed has no port");
  feed.baseUrl = `http://127.0.0.1:${address.port}`;
  return feed;
}

const refuse = (code: string): FeedReply => ({ status: 409, body: { detail: "No.", code } });

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, reply: FeedReply): void {
  if (reply === "disconnect") return void response.destroy();
  const { status, body, headers } = reply;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body === undefined ? "" : JSON.stringify(body));
}
