// What `inputSchema` can be, and the types that follow from it.
import type { FromTopSchema } from "./json-schema.ts";

/** What `inputSchema` takes: a JSON Schema, a Zod schema, or one of another library that follows Standard Schema. */
export type ToolSchema = object;

/** The type of what a schema lets through, after its defaults and transforms: what `fn` gets. */
export type SchemaOutput<Schema> = Schema extends { readonly _output: infer Output; readonly _def: object }
  ? Output
  : Schema extends { readonly "~standard": { readonly types?: infer Types } }
    ? Member<Types, "output">
    : FromTopSchema<Schema>;

/** The type of what a schema takes: what the model writes. */
export type SchemaInput<Schema> = Schema extends { readonly _input: infer Input; readonly _def: object }
  ? Input
  : Schema extends { readonly "~standard": { readonly types?: infer Types } }
    ? Member<Types, "input">
    : FromTopSchema<Schema>;

type Member<Types, Name extends string> =
  NonNullable<Types> extends { readonly [Key in Name]: infer Type } ? Type : unknown;
