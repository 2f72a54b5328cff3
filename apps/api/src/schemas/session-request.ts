import { type Static, Type } from "@sinclair/typebox";
import { STORABLE_HINT, STORABLE_PATTERN } from "@tandem/engine/domain/text";
import { agentSettings } from "./agent-settings.ts";
import { Agent } from "./agents.ts";
import { UserMessageEvent } from "./messages.ts";
import { nullable, openObject, ref } from "./typebox.ts";

/** 30 days, in minutes. */
export const DEFAULT_DELETE_AFTER_MIN = 43_200;

const minutes = (description: string) =>
  Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), {
      description,
      default: DEFAULT_DELETE_AFTER_MIN,
    }),
  );

/** Turns that a session may go round in circles, unless its request says otherwise. */
export const DEFAULT_REPEAT_LIMIT = 50;
export const DEFAULT_ERROR_LIMIT = 25;

const limit = (fallback: number, description: string) =>
  Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }), {
      description: `${description} Then the session fails, with a \`reason\` of its own. Null: no bound.`,
      default: fallback,
    }),
  );

/** A request that works as it stands, with one tool. For the reference page, and for whoever starts. */
export const exampleRequest = {
  agent: "tandem/assistant",
  messages: "Where is order A-1001?",
  overrides: {
    "agent.tools": [
      {
        name: "get_order_status",
        description: "Look up the status of an order by its id.",
        input_schema: {
          type: "object",
          properties: { order_id: { type: "string" } },
          required: ["order_id"],
        },
      },
    ],
  },
};

/** Lists are narrowed by these, and an index entry of the database has a longest length. */
const label = Type.String({ maxLength: 512, pattern: STORABLE_PATTERN, errorHint: STORABLE_HINT });

export const SessionRequest = Type.Object(
  {
    agent: Type.Union([Type.String({ minLength: 1 }), ref(Agent)], {
      description: "The name of a registered agent, or a definition.",
    }),
    messages: Type.Optional(
      nullable(
        Type.Union([
          Type.String(),
          ref(UserMessageEvent),
          Type.Array(ref(UserMessageEvent), { maxItems: 1_000 }),
        ]),
        {
          description: "The first messages: a text, one message, or a list.",
        },
      ),
    ),
    max_steps: Type.Optional(
      nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), {
        description: "After so many steps one last step without tools must answer. Null: no bound.",
      }),
    ),
    max_time_s: Type.Optional(
      nullable(Type.Number({ exclusiveMinimum: 0 }), {
        description:
          "After so many seconds of work and of waiting for results one last step without tools must answer, within 30 s. " +
          "Idle and paused time does not count. Null: no bound.",
      }),
    ),
    idle_timeout_s: Type.Optional(
      nullable(Type.Integer({ exclusiveMinimum: 0 }), {
        description:
          "How long the session stays open for a message after each answer. Null: it ends with the answer.",
      }),
    ),
    delete_after_min: minutes("How long the session is kept after its end. Null: for good."),
    delete_screenshot_after_min: minutes("How long screenshots are kept after the session's end."),
    queue: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "When the organization has no free slot: true waits for one as `queued`, the oldest first; false is refused " +
          "with 429.",
      }),
    ),
    repeat_limit: limit(
      DEFAULT_REPEAT_LIMIT,
      "In how many turns in a row the same calls with the same arguments may be made, or two or three that alternate.",
    ),
    error_limit: limit(DEFAULT_ERROR_LIMIT, "In how many turns in a row the same error may come back."),
    token_budget: Type.Optional(
      nullable(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        description: "Tokens, input and output, that one run may use. Null: no bound.",
      }),
    ),
    group_id: Type.Optional(
      nullable(label, { description: "Groups sessions; lists can be narrowed by it." }),
    ),
    parent_session_id: Type.Optional(nullable(label)),
    ...agentSettings,
    overrides: Type.Optional(
      openObject(
        "Dotted paths to values that replace those of the agent, for example `agent.instructions` or " +
          "`agent.environments[kind=web].start_url`. `agent.tools` adds tools.",
      ),
    ),
  },
  {
    $id: "SessionRequest",
    examples: [exampleRequest],
  },
);

/** A session's request as it may be sent. */
export type SessionRequestInput = Static<typeof SessionRequest>;

export const sessionRequestSchemas = [SessionRequest];
