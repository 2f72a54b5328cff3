import { Type } from "@sinclair/typebox";
import { STORABLE_HINT, STORABLE_PATTERN } from "@tandem/engine/domain/text";
import { createOfferedCallsReader } from "@tandem/engine/queries/offered-calls-reader";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOf } from "../../schemas/errors.ts";
import { OfferedToolCalls, toOfferedToolCall } from "../../schemas/tool-calls.ts";
import { ref, stringEnum } from "../../schemas/typebox.ts";
import { waitForCalls } from "../../waiting/wait-for-calls.ts";

/** Longest wait, in seconds: below the 30 s after which proxies give up. */
const MAX_WAIT_S = 25;

const OWNERS = ["me", "me-in-organization", "organization", "me-or-organization"] as const;

const name = () =>
  Type.String({ minLength: 1, maxLength: 200, pattern: STORABLE_PATTERN, errorHint: STORABLE_HINT });

const Query = Type.Object({
  tools: Type.Array(name(), { minItems: 1, maxItems: 200, description: "Calls of these tools, by name." }),
  agents: Type.Optional(
    Type.Array(name(), { maxItems: 200, description: "Only in sessions of these agents, by name." }),
  ),
  owner: stringEnum(OWNERS, {
    default: "organization",
    description: "Whose sessions: those of the whole organization, or of the key's user.",
  }),
  wait_for_seconds: Type.Integer({
    minimum: 0,
    maximum: MAX_WAIT_S,
    default: 0,
    description: "How long to wait when there is no call.",
  }),
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "Most calls to return." }),
});

/** `GET /tool_calls`: the feed of those who serve tools. */
export function listPendingToolCallsRoute(app: App, { engine, feeds }: ApiContext): void {
  const reader = createOfferedCallsReader(engine);
  app.route({
    method: "GET",
    url: "/api/v2/tool_calls",
    schema: {
      operationId: "listPendingToolCalls",
      tags: ["tools"],
      summary: "Wait for tool calls of all sessions",
      description:
        "Calls that wait for a result and that nobody has claimed, oldest first; those of paused sessions too, since they " +
        "take results. Waits when there are none; an empty list then says that the time is up. Reading marks nothing: " +
        "claim a call before running it.",
      querystring: Query,
      response: { 200: ref(OfferedToolCalls), ...errorsOf() },
    },
    async handler(request, reply) {
      const { query } = request;
      const { organizationId, userName } = principalOf(request);
      const isMine = query.owner === "me" || query.owner === "me-in-organization";
      const feed = {
        organizationId,
        toolNames: [...new Set(query.tools)].sort(),
        agentNames: query.agents?.length ? [...new Set(query.agents)].sort() : null,
        userName: isMine ? userName : null,
      };
      const read = () => reader.read(feed, query.limit);
      if (query.wait_for_seconds === 0) return { items: (await read()).rows.map(toOfferedToolCall) };
      const waiter = feeds.wait(feed, query.wait_for_seconds * 1_000);
      const calls = await waitForCalls(waiter, { read, response: reply.raw });
      return calls === "gone" ? reply.hijack() : { items: calls.map(toOfferedToolCall) };
    },
  });
}
