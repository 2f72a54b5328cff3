// The tools of a session as a model would be offered them.
import { type Static, Type } from "@sinclair/typebox";
import type { ListedTool } from "@tandem/engine/queries/list-session-tools";
import { ToolDefinition } from "./tool-definitions.ts";
import { ref, stringEnum } from "./typebox.ts";

export const SessionTool = Type.Object(
  {
    ...ToolDefinition.properties,
    source: stringEnum(["custom", "builtin"] as const),
    offered: Type.Boolean({
      description:
        "Whether the next model request holds it. False for a deferred tool that was not found yet, for one that has " +
        "failed `max_retries` times in this run, and in a last step.",
    }),
  },
  { $id: "SessionTool" },
);

export const SessionToolList = Type.Object(
  {
    items: Type.Array(ref(SessionTool), { description: "The caller's tools, then those of the server." }),
  },
  { $id: "SessionToolList" },
);

export const ToolReplacement = Type.Object(
  { tools: Type.Array(ref(ToolDefinition), { description: "All of the caller's tools." }) },
  {
    $id: "ToolReplacement",
    additionalProperties: false,
    examples: [
      { tools: [{ name: "get_order_status", description: "Look up the status of an order by its id." }] },
    ],
  },
);

/** A tool in the wire's shape. */
export function toSessionTool({ tool, source, isOffered }: ListedTool): Static<typeof SessionTool> {
  return { ...tool, source, offered: isOffered };
}

export const sessionToolSchemas = [SessionTool, SessionToolList, ToolReplacement];
