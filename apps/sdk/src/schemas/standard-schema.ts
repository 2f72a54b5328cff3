// The shapes by which schemas of libraries are known. None of these libraries is imported.
import type { JsonSchema } from "./json-schema.ts";

/** A fault that a schema found, as Standard Schema and Zod tell it. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** What a Standard Schema says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/**
 * A schema of a library that follows Standard Schema (https://standardschema.dev): Zod, Valibot, ArkType and others.
 * Some give their JSON Schema by the same road, in `jsonSchema`.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate?: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly jsonSchema?: { readonly input: (options: { target: "draft-2020-12" }) => JsonSchema };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A schema of Zod 3. From 3.24 on it is a {@link StandardSchema} too. */
export interface ZodThreeSchema<Input = unknown, Output = Input> {
  readonly _input: Input;
  readonly _output: Output;
  readonly _def: object;
  safeParseAsync(value: unknown): Promise<ZodThreeResult<Output>>;
}

type ZodThreeResult<Output> =
  | { success: true; data: Output }
  | { success: false; error: { issues: SchemaIssue[] } };

/** True for what follows Standard Schema. ArkType's schemas are functions. */
export function isStandardSchema(schema: object): schema is StandardSchema {
  const standard = (schema as { "~standard"?: { version?: unknown } })["~standard"];
  return standard?.version === 1;
}

/** True for schemas of Zod 3, whatever its minor version. */
export function isZodThree(schema: object): schema is ZodThreeSchema {
  const { _def, safeParseAsync } = schema as { _def?: { typeName?: unknown }; safeParseAsync?: unknown };
  return typeof _def?.typeName === "string" && typeof safeParseAsync === "function";
}
