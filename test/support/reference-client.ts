// A client of the reference API, written from reference-api.md §9 and nothing else: it stands for the official SDK.
// It knows none of our additions.

export interface ReferenceTool {
  name: string;
  description: string;
  input_schema?: object;
  run(args: Record<string, unknown>): unknown;
}

export interface ReferenceCall {
  tool_name: string;
  args?: Record<string, unknown>;
  id?: string | null;
}

/** What is posted for one call. */
export type ReferenceResult =
  | { kind: "tool_result"; tool_req: ReferenceCall; result: unknown }
  | { kind: "error_event"; tool_req: ReferenceCall; error: string; origin: "client" };

export interface ReferenceEvent {
  type: string;
  timestamp: string;
  data: Body;
}

/** What `waitForSession` gives. */
export interface ReferenceOutcome {
  id: string;
  status: string;
  answer: unknown;
  outcome: string | null;
  error: string | null;
  error_code: string | null;
  events: ReferenceEvent[];
  /** Every call that this client ran. */
  ran: ReferenceCall[];
  /** The status of every post of results. */
  posts: number[];
}

/** How results are posted. The official SDK posts them together. */
export type Posting = (results: ReferenceResult[]) => ReferenceResult[][];

export interface ReferenceClient {
  /** Creates a session and returns its id: only that of the reply is used. */
  create(request: ReferenceRequest): Promise<string>;
  wait(sessionId: string, options: WaitOptions): Promise<ReferenceOutcome>;
  run(request: ReferenceRequest & WaitOptions): Promise<ReferenceOutcome>;
  send(sessionId: string, message: string): Promise<void>;
}

export interface ReferenceRequest {
  agent: string | { name: string; description: string; environments: unknown[]; [field: string]: unknown };
  messages: unknown;
  tools?: ReferenceTool[];
  answerFormat?: object;
}

export interface WaitOptions {
  tools?: ReferenceTool[];
  posting?: Posting;
  /** Most rounds, so that a server that never settles is an error. Default 100. */
  maxPolls?: number;
  /** Seconds of each long poll. Default 20. */
  waitForSeconds?: number;
  /** False asks for the state alone. Default true. */
  withEvents?: boolean;
}

/** Posts results as the official SDK does: one bare, several as a batch. */
export const together: Posting = (results) => [results];

const settled = new Set(["completed", "failed", "timed_out", "interrupted", "idle"]);

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Body = any;

/** Of HTTP: a status, and the body when there is one. */
interface Reply {
  status: number;
  body: Body;
}

type Send = (method: "GET" | "POST", path: string, body?: unknown) => Promise<Reply>;

/** @param baseUrl the server's; paths under `/api/v2` are added */
export function createReferenceClient(baseUrl: string, apiKey: string): ReferenceClient {
  const send = createSend(baseUrl, apiKey);
  const create = async (request: ReferenceRequest) =>
    (await send("POST", "/sessions", toBody(request))).body.id;
  const wait = (sessionId: string, options: WaitOptions) => waitForSession(send, sessionId, options);
  return {
    create,
    wait,
    run: async (request) => wait(await create(request), request),
    async send(sessionId, message) {
      await send("POST", `/sessions/${sessionId}/messages`, { type: "user_message", message });
    },
  };
}

/** The pass-through call for results takes a 409 as it is; for everything else an error is an error. */
function createSend(baseUrl: string, apiKey: string): Send {
  return async (method, path, body) => {
    const response = await fetch(`${baseUrl}/api/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: "*/*",
        "user-agent": "hai-agents/1.0.12",
        "x-hcompany-client-name": "hai-agents",
        "x-hcompany-client-type": "sdk",
        "x-hcompany-language": "JavaScript",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isTolerated = response.status === 409 && path.endsWith("/tool_results");
    if (!response.ok && !isTolerated)
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };
}

/** §9.1: tools and, for a named agent, the answer's format go into the overrides. */
function toBody({ agent, messages, tools = [], answerFormat }: ReferenceRequest): object {
  const definitions = tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema,
  }));
  const format = answerFormat && { title: "Answer", ...answerFormat };
  const isNamed = typeof agent === "string";
  const overrides = {
    ...(definitions.length > 0 ? { "agent.tools": definitions } : {}),
    ...(format && isNamed ? { "agent.answer_format": format } : {}),
  };
  return { agent: format && !isNamed ? { ...agent, answer_format: format } : agent, messages, overrides };
}

/** What a wait carries from poll to poll. */
interface WaitState {
  cursor: number;
  events: ReferenceEvent[];
  /** The latest reply of `changes`. */
  remembered: Body;
  /** The calls of the latest `ActiveStateChangeEvent`; null until one was seen. */
  pending: ReferenceCall[] | null;
  started: Set<string>;
  ran: ReferenceCall[];
  posts: number[];
}

/** §9.2: changes, then status, whose state alone decides; tools when they are asked for; at the end the drain. */
async function waitForSession(
  send: Send,
  sessionId: string,
  options: WaitOptions,
): Promise<ReferenceOutcome> {
  const { maxPolls = 100, waitForSeconds = 20, withEvents = true } = options;
  const path = `/sessions/${sessionId}`;
  const state: WaitState = {
    ...{ cursor: 0, events: [], remembered: null, pending: null },
    ...{ started: new Set(), ran: [], posts: [] },
  };
  for (let poll = 0; poll < maxPolls; poll++) {
    if (withEvents) {
      const reply = await readChanges(send, path, { state, waitForSeconds });
      if (reply.status === 200) state.remembered = reply.body;
    }
    const { body: status } = await send("GET", `${path}/status`);
    if (settled.has(status.status)) {
      if (withEvents) await drain(send, path, state);
      const answer = await readAnswer(send, path, { status: status.status, state });
      return {
        id: sessionId,
        status: status.status,
        answer: answer?.answer ?? null,
        outcome: status.outcome ?? answer?.outcome ?? null,
        error: status.error ?? answer?.error ?? null,
        error_code: status.error_code ?? answer?.error_code ?? null,
        events: state.events,
        ran: state.ran,
        posts: state.posts,
      };
    }
    if (status.status === "awaiting_tool_results" && withEvents)
      await runTools(send, path, { state, options });
  }
  throw new Error(
    `The session did not settle in ${maxPolls} polls; last: ${JSON.stringify(state.remembered)}`,
  );
}

async function readChanges(
  send: Send,
  path: string,
  { state, waitForSeconds }: { state: WaitState; waitForSeconds: number },
): Promise<Reply> {
  const query = `from_index=${state.cursor}&include_events=true&wait_for_seconds=${waitForSeconds}`;
  const reply = await send("GET", `${path}/changes?${query}`);
  if (reply.status !== 200) return reply;
  const events: ReferenceEvent[] = reply.body.new_events;
  state.events.push(...events);
  state.cursor += events.length;
  state.pending = latestPending(events) ?? state.pending;
  return reply;
}

/** The calls that the latest change of state lists; any other state empties the list. */
function latestPending(events: ReferenceEvent[]): ReferenceCall[] | null {
  const latest = events.findLast(({ type }) => type === "ActiveStateChangeEvent");
  if (!latest) return null;
  return latest.data.state === "awaiting_tool_results" ? (latest.data.pending_tool_calls ?? []) : [];
}

/** Reads what is left. Of these replies only one with an answer is remembered. */
async function drain(send: Send, path: string, state: WaitState): Promise<void> {
  for (;;) {
    const reply = await readChanges(send, path, { state, waitForSeconds: 0 });
    if (reply.status === 200 && reply.body.answer !== null) state.remembered = reply.body;
    if (reply.status === 204 || reply.body.new_events.length === 0) return;
  }
}

/** The reply of `changes` that has the final answer. */
async function readAnswer(
  send: Send,
  path: string,
  wait: { status: string; state: WaitState },
): Promise<Body> {
  const { status, state } = wait;
  const isAnswered = status === "completed" || status === "idle";
  if (isAnswered && state.remembered && state.remembered.answer !== null) return state.remembered;
  const reply = await send("GET", `${path}/changes?from_index=0&include_events=false&wait_for_seconds=0`);
  return reply.status === 204 ? state.remembered : reply.body;
}

/** §9.3: each call once per wait, all at the same time. */
async function runTools(
  send: Send,
  path: string,
  { state, options }: { state: WaitState; options: WaitOptions },
): Promise<void> {
  if (state.pending === null) {
    const reply = await send("GET", `${path}/changes?from_index=0&include_events=true&wait_for_seconds=0`);
    state.pending = reply.status === 200 ? latestPending(reply.body.new_events) : null;
  }
  const open = (state.pending ?? []).filter((call) => !state.started.has(keyOf(call)));
  for (const call of open) state.started.add(keyOf(call));
  if (open.length === 0) return;
  state.ran.push(...open);
  const results = await Promise.all(open.map((call) => runTool(call, options.tools ?? [])));
  for (const body of (options.posting ?? together)(results)) {
    const sent = body.length === 1 ? body[0] : { type: "batch", results: body };
    state.posts.push((await send("POST", `${path}/tool_results`, sent)).status);
  }
}

function keyOf({ id, tool_name, args }: ReferenceCall): string {
  return id ?? JSON.stringify({ tool_name, args });
}

async function runTool(call: ReferenceCall, tools: ReferenceTool[]): Promise<ReferenceResult> {
  const tool_req = { tool_name: call.tool_name, args: call.args ?? {}, id: call.id ?? null };
  try {
    const tool = tools.find(({ name }) => name === call.tool_name);
    if (!tool) throw new Error(`Unknown tool: ${call.tool_name}`);
    return { kind: "tool_result", tool_req, result: (await tool.run(tool_req.args)) ?? null };
  } catch (error) {
    return { kind: "error_event", error: String(error), origin: "client", tool_req };
  }
}
