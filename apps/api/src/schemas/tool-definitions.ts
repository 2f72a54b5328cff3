// Tool definitions as they are sent and shown.
import { Type } from "@sinclair/typebox";
import { APPROVALS, CAPABILITIES, ON_APPROVAL_TIMEOUT, ON_TIMEOUT } from "@tandem/engine/domain/tools";
import { timeoutS } from "./agent-settings.ts";
import { nullable, openObject, stringEnum } from "./typebox.ts";

export const ToolDefinition = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Letters, digits, `_` and `-`, first a letter or `_`. Unique in a session.",
    }),
    description: Type.String({ minLength: 1, description: "What the tool does, for the model." }),
    input_schema: Type.Optional(
      openObject(
        "JSON Schema of the arguments; its top level is an object. Missing: any object is accepted.",
      ),
    ),
    title: Type.Optional(nullable(Type.String({ maxLength: 200 }), { description: "A name for people." })),
    capability: Type.Optional(
      nullable(stringEnum(CAPABILITIES), {
        description: "`read` (the default) looks, `actuator` acts. Shown on pending calls.",
      }),
    ),
    approval: Type.Optional(
      nullable(stringEnum(APPROVALS), {
        description:
          "`always`: every call waits for `POST …/approvals` before it is offered. Missing: as the agent says.",
      }),
    ),
    approval_timeout_s: Type.Optional(
      nullable(timeoutS(), {
        description:
          "How long a call may wait for its approval, in seconds. Null: for ever. Missing: as the session says.",
      }),
    ),
    on_approval_timeout: Type.Optional(
      nullable(stringEnum(ON_APPROVAL_TIMEOUT), {
        description: "What counts when nobody decides in time. Default `deny`.",
      }),
    ),
    timeout_s: Type.Optional(
      nullable(timeoutS(), {
        description:
          "How long a call may wait for its result, in seconds; progress moves the deadline. Null: for ever. Missing: as " +
          "the session says.",
      }),
    ),
    on_timeout: Type.Optional(
      nullable(stringEnum(ON_TIMEOUT), {
        description: "When the time is over: `error` (the default) tells the model, `fail` ends the session.",
      }),
    ),
    max_retries: Type.Optional(
      nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }), {
        description: "After so many failures in a run the tool is offered no more. Missing: any number.",
      }),
    ),
    max_result_tokens: Type.Optional(
      nullable(Type.Integer({ minimum: 1, maximum: 100_000_000 }), {
        description:
          "Most tokens of a result's text that the model sees, at four characters each. The history keeps all of it.",
      }),
    ),
    strict: Type.Optional(
      nullable(Type.Boolean(), {
        description: "Asks the provider for arguments that fit the schema, where it can for this schema.",
      }),
    ),
    defer_loading: Type.Optional(
      nullable(Type.Boolean(), {
        description:
          "Keeps the definition out of the requests until the model has found it with `search_tools`.",
      }),
    ),
    examples: Type.Optional(
      nullable(Type.Array(openObject("Arguments."), { maxItems: 20 }), {
        description: "Arguments of good calls, told to the model.",
      }),
    ),
  },
  {
    $id: "ToolDefinition",
    examples: [
      {
        name: "get_order_status",
        description: "Look up the status of an order by its id.",
        input_schema: {
          type: "object",
          properties: { order_id: { type: "string", description: "The order's id, for example A-1001." } },
          required: ["order_id"],
        },
      },
    ],
  },
);
