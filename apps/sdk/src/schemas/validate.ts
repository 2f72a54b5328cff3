// The check of a value by the library that a schema is of.
import { isStandardSchema, isZodThree, type SchemaIssue } from "./standard-schema.ts";

/** A value after the schema's defaults and transforms, or what is wrong with it. */
export type Validated =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** Checks a value and transforms it. A plain JSON Schema lets everything through: the server has checked. */
export async function validate(schema: object, value: unknown): Promise<Validated> {
  const check = isStandardSchema(schema) ? schema["~standard"].validate : undefined;
  if (check) return check(value);
  if (!isZodThree(schema)) return { value };
  const result = await schema.safeParseAsync(value);
  return result.success ? { value: result.data } : result.error;
}
