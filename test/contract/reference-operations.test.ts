import { SESSION_STATUSES } from "@tandem/engine/domain/session-state";
import { beforeAll, describe, expect, it } from "vitest";
import { listRoutes, type OpenApiDocument, type Route, readOpenApi } from "./checked-wire.ts";
import {
  type JsonSchema,
  type ReferenceApi,
  type ReferenceEndpoint,
  type ReferenceObject,
  readReferenceApi,
} from "./reference-schemas.ts";

/** Differences that are meant, each with its reason. Anything else is a fault. */
const meant: Record<string, string> = {
  // Postgres counts events in 32 bits, and no cursor is below 0.
  "GET /api/v2/sessions/{id}/changes query from_index": "minimum 0, maximum 2147483647",
  "GET /api/v2/sessions/{id}/changes query limit": "maximum 2147483647",
  // A state of ours: calls wait for an approval (design §3).
  "GET /api/v2/sessions query status": `enum ${JSON.stringify(SESSION_STATUSES)}`,
  // A page beyond the millionth would be a scan of everything before it.
  "GET /api/v2/sessions query page": "maximum 1000000",
  "GET /api/v2/sessions/{id}/events query page": "maximum 1000000",
  "GET /api/v2/agents query page": "maximum 1000000",
  // Names longer than any agent's are refused before the database is asked.
  "GET /api/v2/agents/{agent_name} path agent_name": "minLength 1, maxLength 127",
  "PUT /api/v2/agents/{agent_name} path agent_name": "minLength 1, maxLength 127",
  "PATCH /api/v2/agents/{agent_name} path agent_name": "minLength 1, maxLength 127",
  "DELETE /api/v2/agents/{agent_name} path agent_name": "minLength 1, maxLength 127",
  // No event comes before the first.
  "PUT /api/v2/sessions/{id}/events/{event_index}/feedback path event_index": "minimum 0",
  // Receipts of each result, in JSON (design §4).
  "POST /api/v2/sessions/{id}/tool_results response 202": "a body",
};

/** A parameter of either document in the same words. A URL has no null, so `nullable` says nothing there. */
interface Parameter {
  required: boolean;
  isList: boolean;
  type: unknown;
  format: unknown;
  enum: unknown;
  default: unknown;
  minimum: unknown;
  maximum: unknown;
  minLength: unknown;
  maxLength: unknown;
}

type Place = "query" | "path" | "header";

describe("the operations of our document that the reference has", () => {
  let document: OpenApiDocument;
  let reference: ReferenceApi;
  let pairs: { route: Route; endpoint: ReferenceEndpoint }[];

  beforeAll(async () => {
    document = await readOpenApi();
    reference = await readReferenceApi();
    pairs = listRoutes(document).flatMap((route) => {
      const endpoint = findEndpoint(reference, route);
      return endpoint ? [{ route, endpoint }] : [];
    });
  });

  it("are all of the sessions and agents that this version has", () => {
    expect(pairs.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`).sort()).toEqual([
      "DELETE /api/v2/agents/{agent_name}",
      "DELETE /api/v2/sessions/{id}",
      "DELETE /api/v2/sessions/{id}/share",
      "GET /api/v2/agents",
      "GET /api/v2/agents/{agent_name}",
      "GET /api/v2/sessions",
      "GET /api/v2/sessions/quota",
      "GET /api/v2/sessions/{id}",
      "GET /api/v2/sessions/{id}/changes",
      "GET /api/v2/sessions/{id}/events",
      "GET /api/v2/sessions/{id}/status",
      "PATCH /api/v2/agents/{agent_name}",
      "POST /api/v2/agents",
      "POST /api/v2/sessions",
      "POST /api/v2/sessions/{id}/feedback",
      "POST /api/v2/sessions/{id}/force_answer",
      "POST /api/v2/sessions/{id}/messages",
      "POST /api/v2/sessions/{id}/pause",
      "POST /api/v2/sessions/{id}/resume",
      "POST /api/v2/sessions/{id}/share",
      "POST /api/v2/sessions/{id}/tool_results",
      "PUT /api/v2/agents/{agent_name}",
      "PUT /api/v2/sessions/{id}/events/{event_index}/feedback",
    ]);
  });

  it("have its parameters, defaults, bounds, bodies and success codes, but for what is meant", () => {
    const found = pairs.flatMap(({ route, endpoint }) => [
      ...compareParameters(route, endpoint),
      ...compareBody(route, endpoint),
      ...compareResponses(route, endpoint),
    ]);
    expect(Object.fromEntries(found)).toEqual(meant);
  });

  it("have no parameters that the reference has not", () => {
    const added = pairs.flatMap(({ route, endpoint }) =>
      (route.operation.parameters ?? [])
        .filter(({ in: place, name }) => !(name in parametersOf(endpoint, place as Place)))
        .map(({ in: place, name }) => `${route.method} ${route.path} ${place} ${name}`),
    );
    expect(added).toEqual([]);
  });

  it("differ where a bound, a default or a code is changed", () => {
    const pair = pairs.find(({ endpoint }) => endpoint.path.endsWith("/changes"));
    if (!pair) throw new Error("There is no changes");
    const { route, endpoint } = structuredClone(pair);
    const wait = route.operation.parameters?.find(({ name }) => name === "wait_for_seconds");
    if (wait) Object.assign(wait.schema, { maximum: 60, default: 20 });
    route.operation.responses = { 200: {} };
    const found = [...compareParameters(route, endpoint), ...compareResponses(route, endpoint)];
    expect(found).toContainEqual([`${keyOf(route)} query wait_for_seconds`, "default 20, maximum 60"]);
    expect(found).toContainEqual([`${keyOf(route)} response 204`, "missing"]);
    expect(found).toContainEqual([`${keyOf(route)} response 200`, "no body"]);
  });
});

type Difference = [where: string, what: string];

const keyOf = ({ method, path }: Route): string => `${method} ${path}`;

function findEndpoint(reference: ReferenceApi, route: Route): ReferenceEndpoint | undefined {
  return reference.endpoints.find(({ method, path }) => method === route.method && path === route.path);
}

function parametersOf(endpoint: ReferenceEndpoint, place: Place): Record<string, ReferenceObject> {
  if (place === "query") return endpoint.query;
  return (place === "path" ? endpoint.pathParams : endpoint.headers) ?? {};
}

function compareParameters(route: Route, endpoint: ReferenceEndpoint): Difference[] {
  return (["query", "path", "header"] as const).flatMap((place) =>
    Object.entries(parametersOf(endpoint, place)).flatMap(([name, wanted]): Difference[] => {
      const where = `${keyOf(route)} ${place} ${name}`;
      const ours = route.operation.parameters?.find((known) => known.in === place && known.name === name);
      if (!ours) return [[where, "missing"]];
      const theirs = fromReference(wanted, place);
      const differences = Object.entries(fromOurs(ours.schema, ours.required ?? false)).filter(
        ([key, value]) => JSON.stringify(value) !== JSON.stringify(theirs[key as keyof Parameter]),
      );
      const words = differences.map(([key, value]) => `${key} ${toWord(value)}`).join(", ");
      return words === "" ? [] : [[where, words]];
    }),
  );
}

const toWord = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "missing");

/** The values of an enumeration that the reference only names. */
const statuses = [
  ...["queued", "pending", "running", "paused", "idle", "awaiting_tool_results"],
  ...["completed", "failed", "timed_out", "interrupted"],
];

function fromReference(node: ReferenceObject, place: Place): Parameter {
  return {
    required: place === "path" || node.required === true,
    isList: node.repeatable ?? false,
    type: node.type,
    format: node.format,
    enum: node.ref === "TrajectoryStatus" ? statuses : node.enum,
    default: node.default,
    minimum: node.min,
    maximum: node.max,
    minLength: node.minLength,
    maxLength: node.maxLength,
  };
}

function fromOurs(schema: JsonSchema, required: boolean): Parameter {
  const isList = schema.type === "array";
  const [alternative] = (schema.anyOf ?? []) as JsonSchema[];
  const value = (isList ? schema.items : (alternative ?? schema)) as JsonSchema;
  const { type, format, enum: values, minimum, maximum, minLength, maxLength } = value;
  const { default: preset } = schema;
  return {
    required,
    isList,
    type,
    format,
    enum: values,
    default: preset,
    minimum,
    maximum,
    minLength,
    maxLength,
  };
}

function compareBody(route: Route, endpoint: ReferenceEndpoint): Difference[] {
  const where = `${keyOf(route)} body`;
  const ours = route.operation.requestBody;
  if (endpoint.body === null) return ours ? [[where, "is there"]] : [];
  if (!ours?.content["application/json"]) return [[where, "missing"]];
  return (ours.required ?? false) === (endpoint.bodyRequired ?? false) ? [] : [[where, "required otherwise"]];
}

function compareResponses(route: Route, endpoint: ReferenceEndpoint): Difference[] {
  const isSuccess = (status: string) => status.startsWith("2");
  const wanted = Object.keys(endpoint.responses).filter(isSuccess);
  const ours = Object.keys(route.operation.responses).filter(isSuccess);
  const added = ours
    .filter((status) => !wanted.includes(status))
    .map((status): Difference => [`${keyOf(route)} response ${status}`, "added"]);
  const changed = wanted.flatMap((status): Difference[] => {
    const where = `${keyOf(route)} response ${status}`;
    const response = route.operation.responses[status];
    if (!response) return [[where, "missing"]];
    const hasBody = response.content?.["application/json"] !== undefined;
    if (hasBody === (endpoint.responses[status] !== null)) return [];
    return [[where, hasBody ? "a body" : "no body"]];
  });
  return [...added, ...changed];
}
