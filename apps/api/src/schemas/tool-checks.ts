// Checks of tool definitions: what would be refused, and what a model's provider is told of the others.
import { type Static, Type } from "@sinclair/typebox";
import type { ToolCheck as Check } from "@tandem/engine/domain/check-tools";
import { MAX_TOOLS } from "@tandem/engine/domain/tools";
import { nullable, openObject, ref } from "./typebox.ts";

/** Definitions of any form: what is wrong with one is the answer, and no fault of the request. */
export const ToolsToCheck = Type.Object(
  {
    model: Type.Optional(
      nullable(Type.String(), {
        description: "`provider/model`; null, or none, takes the server's default.",
      }),
    ),
    tools: Type.Array(openObject("A tool's definition, as an agent has it."), {
      maxItems: MAX_TOOLS,
      description: "The tools that a session would have together.",
    }),
  },
  {
    $id: "ToolsToCheck",
    examples: [
      {
        model: "demo/keyword",
        tools: [
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
    ],
  },
);

export const ToolCheck = Type.Object(
  {
    name: nullable(Type.String(), { description: "The tool's name; null when it has none." }),
    accepted: Type.Boolean({ description: "Whether a session with this model would take the tool." }),
    reason: Type.Optional(Type.String({ description: "Why it is not accepted." })),
    path: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Integer()]), {
        description: "The path of the fault in the definition.",
      }),
    ),
    lowered: Type.Optional(
      openObject("The schema that the model's provider gets in place of `input_schema`, when it is another."),
    ),
    changes: Type.Optional(
      Type.Array(Type.String(), { description: "What differs between the two, in words." }),
    ),
    strict: Type.Optional(
      Type.Boolean({
        description: "For a tool that asks for it: whether the provider is asked to be strict.",
      }),
    ),
    strict_reason: Type.Optional(Type.String({ description: "Why the provider is not asked to be strict." })),
  },
  { $id: "ToolCheck" },
);

export const ToolChecks = Type.Object(
  { items: Type.Array(ref(ToolCheck), { description: "One for each tool, in the same order." }) },
  { $id: "ToolChecks" },
);

/** A check in the wire's shape. */
export function toToolCheck({ strictReason, ...check }: Check): Static<typeof ToolCheck> {
  return { ...check, ...(strictReason === undefined ? {} : { strict_reason: strictReason }) };
}

export const toolCheckSchemas = [ToolsToCheck, ToolCheck, ToolChecks];
