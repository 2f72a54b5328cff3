// A wire that holds every reply against our own OpenAPI document and against the reference, and remembers which
// replies it has seen.
import { readFile } from "node:fs/promises";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, type WireOptions, type WireReply } from "../support/wire.ts";
import {
  type Check,
  compileCheck,
  createAjv,
  createReferenceValidator,
  type JsonSchema,
  type ReferenceApi,
  readReferenceApi,
} from "./reference-schemas.ts";

export interface OpenApiOperation {
  operationId: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: {
    in: "query" | "path" | "header" | "cookie";
    name: string;
    required?: boolean;
    schema: JsonSchema;
  }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { description?: string; content?: Record<string, { schema: JsonSchema }> }>;
}

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
}

/** One operation of our document, with its place. */
export interface Route {
  method: string;
  path: string;
  operation: OpenApiOperation;
}

/** The committed document. */
export async function readOpenApi(): Promise<OpenApiDocument> {
  const file = new URL("../../openapi/openapi.json", import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as OpenApiDocument;
}

export function listRoutes(document: OpenApiDocument): Route[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/**
 * Where our replies say more than the reference, by design: the reference declares no body for the reply to
 * `tool_results`, ours has the receipts (design §4).
 */
const bodiesOfOurs = new Set(["POST /api/v2/sessions/{id}/tool_results 202"]);

/** The one state that we add to the reference's (design §3), wherever it lists those that wait. */
function withOurStates(reference: ReferenceApi): ReferenceApi {
  return JSON.parse(JSON.stringify(reference), (key, value) =>
    key === "enum" && value.includes("awaiting_tool_results") ? [...value, "awaiting_approval"] : value,
  );
}

/** Holds replies against both documents. */
export interface Contract {
  /** What is wrong with a reply, one line per fault. */
  findFaults(method: string, path: string, reply: Pick<WireReply, "status" | "body">): string[];
  /** The documented replies that no request has had yet, as `<operationId> <status>`. */
  listUnseen(): string[];
}

export async function createContract(): Promise<Contract> {
  const document = await readOpenApi();
  const reference = withOurStates(await readReferenceApi());
  const routes = listRoutes(document);
  const checkOurs = createDocumentCheck(document);
  const checkReference = createReferenceCheck(reference);
  const unseen = new Set(
    routes.flatMap(({ operation }) =>
      Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
    ),
  );
  return {
    findFaults(method, path, reply) {
      const route = findRoute(routes, method, path);
      if (!route) return [`${method} ${path} is not in our document`];
      unseen.delete(`${route.operation.operationId} ${reply.status}`);
      return [...checkOurs(route, reply), ...checkReference(route, reply)];
    },
    listUnseen: () => [...unseen],
  };
}

/** Sends requests with one key; a reply that breaks the contract is an error where it happens. */
export interface CheckedWire {
  send(method: string, path: string, options?: WireOptions): Promise<WireReply>;
  get(path: string): Promise<WireReply>;
  post(path: string, body: unknown): Promise<WireReply>;
  /** Creates a session and returns its id. */
  create(request: unknown): Promise<string>;
  /** Looks at a session through every route that shows one, and returns it. */
  look(sessionId: string): Promise<WireReply>;
  /** Waits, poll by poll, until the session has this state, and returns every event so far. */
  until(sessionId: string, status: string): Promise<SeenEvent[]>;
  /** The calls that wait, once the session waits for its caller. */
  pending(sessionId: string): Promise<PendingCall[]>;
}

/** An event as tests look at it. */
export interface SeenEvent {
  type: string;
  timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape
  data: any;
}

/** @param path under `/api/v2`; with two slashes in front, from the root */
export function createCheckedWire(contract: Contract, baseUrl: string, apiKey: string): CheckedWire {
  const wire = createWire(baseUrl, apiKey);
  const send = async (method: string, path: string, options: WireOptions = {}): Promise<WireReply> => {
    const reply = await wire.send(method, path, options);
    const fullPath = path.startsWith("//") ? path.slice(1) : `/api/v2${path}`;
    const faults = contract.findFaults(method, fullPath.split("?")[0] ?? "", reply);
    if (faults.length > 0)
      throw new Error(`${method} ${path} answered ${reply.status}:\n${faults.join("\n")}`);
    return reply;
  };
  const get = (path: string) => send("GET", path);
  const post = (path: string, body: unknown) => send("POST", path, { body });
  const until = async (sessionId: string, status: string): Promise<SeenEvent[]> => {
    const reply = await waitFor(
      async () => {
        const seen = await get(`/sessions/${sessionId}/changes`);
        return seen.body.status === status && seen;
      },
      { what: `session ${sessionId} to be ${status}`, timeoutMs: 20_000 },
    );
    return reply.body.new_events;
  };
  return {
    send,
    get,
    post,
    until,
    async create(request) {
      const reply = await post("/sessions", request);
      if (reply.status !== 201) throw new Error(`create answered ${JSON.stringify(reply.body)}`);
      return reply.body.id;
    },
    async look(sessionId) {
      const path = `/sessions/${sessionId}`;
      await get(`${path}/status`);
      await get(`${path}/changes?include_events=false`);
      await get(`${path}/changes?from_index=1&limit=2`);
      await get(`${path}/events`);
      await get(`${path}/events?sort=-timestamp&size=3&page=2`);
      await get(`${path}/events?type=AgentEvent`);
      await get("/sessions?size=100");
      return get(path);
    },
    async pending(sessionId) {
      const events = await until(sessionId, "awaiting_tool_results");
      const state = events.findLast((event) => event.type === "ActiveStateChangeEvent");
      return state?.data.pending_tool_calls ?? [];
    },
  };
}

/** The route that a request goes to; a path without parameters comes before one with them. */
function findRoute(routes: Route[], method: string, path: string): Route | undefined {
  const fitting = routes.filter((route) => route.method === method && toPattern(route.path).test(path));
  return fitting.find((route) => route.path === path) ?? fitting[0];
}

/** Names of agents may hold a slash; other parameters are one segment. */
function toPattern(template: string): RegExp {
  const pattern = template
    .replaceAll(".", "\\.")
    .replaceAll("{agent_name}", ".+")
    .replaceAll(/\{[^}]+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`);
}

type ReplyCheck = (route: Route, reply: Pick<WireReply, "status" | "body">) => string[];

/** Every status is documented; a reply has a body exactly when its response has a schema, and the body fits it. */
function createDocumentCheck(document: OpenApiDocument): ReplyCheck {
  const ajv = createAjv();
  ajv.addSchema({ $id: "ours:", ...document });
  const compiled = new Map<string, Check>();
  return ({ method, path, operation }, { status, body }) => {
    const response = operation.responses[status];
    if (!response) return [`our document knows no ${status} of ${method} ${path}`];
    const isStream = response.content?.["text/event-stream"] !== undefined;
    const isJson = response.content?.["application/json"] !== undefined;
    if (!isJson && !isStream)
      return body === "" ? [] : [`our document says there is no body, but there is: ${body}`];
    const pointer = ["paths", path, method.toLowerCase(), "responses", `${status}`, "content"];
    const type = isStream ? "text/event-stream" : "application/json";
    const ref = `ours:#/${[...pointer, type, "schema"].map(escapePointer).join("/")}`;
    const check = compiled.get(ref) ?? compileCheck(ajv, { $ref: ref });
    compiled.set(ref, check);
    const values = isStream ? listFrameData(body) : [body];
    return values.flatMap((value) => check(value).map((fault) => `ours: ${fault}`));
  };
}

/** What the frames of a stream that has ended carry. */
function listFrameData(text: string): unknown[] {
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/**
 * Successes fit the reference's schema of their operation, and 422s its error shape. It declares no other errors;
 * of those its clients read a text in `detail`.
 */
function createReferenceCheck(reference: ReferenceApi): ReplyCheck {
  const validator = createReferenceValidator(reference);
  const check = (route: Route, { status, body }: Pick<WireReply, "status" | "body">): string[] => {
    const endpoint = reference.endpoints.find(
      (candidate) => candidate.method === route.method && candidate.path === route.path,
    );
    if (!endpoint) return [];
    const isError = status >= 400;
    if (isError && status !== 422) {
      return typeof body?.detail === "string" ? [] : [`detail is not a text: ${JSON.stringify(body)}`];
    }
    const node = endpoint.responses[status];
    if (node === undefined) return [`the reference knows no ${status} here`];
    if (bodiesOfOurs.has(`${route.method} ${route.path} ${status}`)) return [];
    if (node === null) return body === "" ? [] : [`the reference has no body here: ${JSON.stringify(body)}`];
    const events: unknown[] = listEvents(body);
    return [...validator.check(node, body), ...events.flatMap((event) => validator.checkEvent(event))];
  };
  return (route, reply) => check(route, reply).map((fault) => `reference: ${fault}`);
}

/** The events in the body of `changes`, or of a page of events. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
function listEvents(body: any): unknown[] {
  if (Array.isArray(body?.new_events)) return body.new_events;
  const items: unknown[] = Array.isArray(body?.items) ? body.items : [];
  return items.filter((item) => typeof item === "object" && item !== null && "timestamp" in item);
}
