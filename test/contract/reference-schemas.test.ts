import { access, readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createReferenceValidator,
  type ReferenceApi,
  type ReferenceValidator,
  readReferenceApi,
  toJsonSchema,
} from "./reference-schemas.ts";

const time = "2026-11-29T12:00:00.000Z";
const id = "0190f5e2-0000-7000-8000-000000000000";
const message = { type: "user_message", message: "Hello.", images: [], caller_id: "user" };
const call = { tool_name: "get_weather", args: { city: "Paris" }, id: "call_1" };

const status = {
  status: "completed",
  error: null,
  error_code: null,
  outcome: "success",
  steps: 1,
  usage_per_model: [{ name: "m", input_tokens: 1, output_tokens: 1, reasoning_tokens: 0 }],
  subagent_session_ids: [],
};
const agent = { name: "a", description: "A.", environments: [{ id: "web", kind: "web" }] };
const session = {
  id,
  request: { agent, messages: [message], max_steps: null, queue: true, overrides: {} },
  status,
  agent_view_url: null,
  latest_answer: "It is 18 °C.",
  created_at: time,
  started_at: time,
  finished_at: null,
};
const waiting = {
  type: "ActiveStateChangeEvent",
  timestamp: time,
  data: { state: "awaiting_tool_results", pending_tool_calls: [call] },
};
const said = {
  type: "AgentEvent",
  timestamp: time,
  data: { kind: "tool_result", tool_req: call, result: null },
};
const changes = { status: "completed", new_events: [waiting, said], answer: { city: "Paris" }, metrics: {} };
const summary = { id, status: "running", created_at: time };

describe("the reference as JSON Schema", () => {
  let reference: ReferenceApi;
  let validator: ReferenceValidator;

  beforeAll(async () => {
    reference = await readReferenceApi();
    validator = createReferenceValidator(reference);
  });

  it("is made from the same facts as the shared page, where there is one", async () => {
    const shared = new URL("../../../shared/wire/reference-api.json", import.meta.url);
    const isThere = await access(shared).then(
      () => true,
      () => false,
    );
    if (isThere) expect(reference).toEqual(JSON.parse(await readFile(shared, "utf8")));
    expect(reference.endpoints).toHaveLength(72);
    expect(Object.keys(reference.schemas)).toHaveLength(106);
  });

  it("can be made of every schema, and every response", () => {
    for (const name of Object.keys(reference.schemas))
      expect(validator.check(name, Symbol.iterator)).toBeDefined();
    for (const { responses } of reference.endpoints) {
      const nodes = Object.values(responses).filter(
        (node) => node !== null && node !== "application/octet-stream",
      );
      for (const node of nodes) expect(validator.check(node as string, {})).toBeDefined();
    }
  });

  it("cannot be made of a keyword or a shape that is not understood", () => {
    expect(() => toJsonSchema({ type: "string", pattern: "x" } as never)).toThrow("pattern");
    expect(() => toJsonSchema({ nullable: true })).toThrow("No shape");
  });

  it("takes what fits", () => {
    expect(validator.check("Session", session)).toEqual([]);
    expect(validator.check("SessionChanges", changes)).toEqual([]);
    expect(validator.check("SessionSummary", summary)).toEqual([]);
    expect(
      validator.check("HTTPValidationError", { detail: [{ loc: ["body", 0], msg: "m", type: "t" }] }),
    ).toEqual([]);
    expect([waiting, said].flatMap((event) => validator.checkEvent(event))).toEqual([]);
  });

  it("takes additions where the reference leaves an object open or unmarked", () => {
    expect(validator.check("SessionStatus", { ...status, reason: "answered" })).toEqual([]);
    expect(validator.check("SessionChanges", { ...changes, next_index: 2 })).toEqual([]);
    expect(validator.checkEvent({ ...waiting, index: 3 })).toEqual([]);
  });

  it.each<{ what: string; schema: string; value: unknown }>([
    { what: "an extra key in a session", schema: "Session", value: { ...session, reason: "answered" } },
    { what: "a session without its request", schema: "Session", value: { ...session, request: undefined } },
    { what: "a session's id that is no uuid", schema: "Session", value: { ...session, id: "1" } },
    {
      what: "a time without a zone",
      schema: "Session",
      value: { ...session, created_at: "2026-11-29T12:00:00" },
    },
    {
      what: "a time with a space",
      schema: "Session",
      value: { ...session, created_at: "2026-11-29 12:00:00" },
    },
    { what: "an extra key in a summary", schema: "SessionSummary", value: { ...summary, reason: null } },
    { what: "a state that there is not", schema: "SessionStatus", value: { ...status, status: "asleep" } },
    { what: "an outcome of our own", schema: "SessionStatus", value: { ...status, outcome: "answered" } },
    {
      what: "an error code of our own",
      schema: "SessionStatus",
      value: { ...status, error_code: "refused" },
    },
    { what: "steps that are no number", schema: "SessionStatus", value: { ...status, steps: "1" } },
    { what: "steps that are null", schema: "SessionStatus", value: { ...status, steps: null } },
    { what: "an answer that is a list", schema: "SessionChanges", value: { ...changes, answer: [1] } },
    { what: "changes without a state", schema: "SessionChanges", value: { ...changes, status: undefined } },
    { what: "a request without an agent", schema: "SessionRequest", value: {} },
    { what: "a bound of zero", schema: "SessionRequest", value: { agent: "a", max_time_s: 0 } },
    { what: "an agent without environments", schema: "Agent", value: { name: "a", description: "A." } },
    { what: "an environment without a kind", schema: "Environment", value: { id: "web" } },
    {
      what: "an environment of a kind of our own",
      schema: "Environment",
      value: { id: "x", kind: "android" },
    },
    { what: "a desktop without its host", schema: "Environment", value: { id: "d", kind: "desktop" } },
    {
      what: "a fault without a place",
      schema: "HTTPValidationError",
      value: { detail: [{ msg: "", type: "" }] },
    },
    { what: "a fault in words only", schema: "HTTPValidationError", value: { detail: "wrong" } },
    { what: "an extra key in a batch", schema: "ToolResultBatch", value: { results: [said.data], more: 1 } },
    { what: "an empty batch", schema: "ToolResultBatch", value: { results: [] } },
  ])("refuses $what", ({ schema, value }) => {
    expect(validator.check(schema, JSON.parse(JSON.stringify(value)))).not.toEqual([]);
  });

  it.each<{ what: string; event: unknown }>([
    { what: "a state of our own", event: { ...waiting, data: { state: "awaiting_approval" } } },
    {
      what: "a call without a name",
      event: { ...waiting, data: { ...waiting.data, pending_tool_calls: [{}] } },
    },
    {
      what: "a call whose arguments are text",
      event: { ...said, data: { ...said.data, tool_req: { ...call, args: "" } } },
    },
    { what: "a kind that there is not", event: { ...said, data: { ...said.data, kind: "tool_error" } } },
    { what: "no kind", event: { ...said, data: { tool_req: call } } },
    { what: "no time", event: { type: waiting.type, data: waiting.data } },
    {
      what: "an end for a reason of our own",
      event: { ...waiting, type: "AgentCompletionEvent", data: { reason: "ok" } },
    },
  ])("refuses a typed event with $what, which the untyped fallback would take", ({ event }) => {
    expect(validator.checkEvent(event)).not.toEqual([]);
  });

  it("takes an event of our own by the untyped fallback", () => {
    expect(validator.checkEvent({ type: "LateToolResultEvent", timestamp: time, data: {} })).toEqual([]);
    expect(validator.checkEvent({ type: "LateToolResultEvent", data: {} })).not.toEqual([]);
  });
});
