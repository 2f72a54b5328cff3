// What `inputSchema` can be, and the types that follow from it.
import type { FromSchema } from "./json-schema.ts";
import type { StandardSchema, ZodThreeSchema } from "./standard-schema.ts";

/** What `inputSchema` takes: a JSON Schema, a Zod schema, or one of another library that follows Standard Schema. */
export type ToolSchema = object;

/** The type of what a schema lets through, after its defaults and transforms: what `fn` gets. */
export type SchemaOutput<Schema> =
  Schema extends StandardSchema<never, infer Output>
    ? Output
    : Schema extends ZodThreeSchema<never, infer Output>
      ? Output
      : FromSchema<Schema>;

/** The type of what a schema takes: what the model writes. */
export type SchemaInput<Schema> =
  Schema extends StandardSchema<infer Input, unknown>
    ? Input
    : Schema extends ZodThreeSchema<infer Input, unknown>
      ? Input
      : FromSchema<Schema>;
