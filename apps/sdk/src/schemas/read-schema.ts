// From `inputSchema` as people write it to the JSON Schema for the server and the check of a call's arguments.
import { describeError } from "../describe-error.ts";
import { TandemError } from "../errors.ts";
import { isObject, type JsonSchema } from "./json-schema.ts";
import { withPlainPatterns } from "./plain-patterns.ts";
import { isStandardSchema, isZodThree, type SchemaIssue, type StandardSchema } from "./standard-schema.ts";
import { validate } from "./validate.ts";
import { findZodFourFault } from "./zod-four-fault.ts";
import { fromZodThree, toFieldPath, type ZodNode } from "./zod-three.ts";

/** Arguments that fit, after defaults and transforms, or what is wrong with them. */
export type ParseResult<Args> =
  | { readonly ok: true; readonly value: Args }
  | { readonly ok: false; readonly error: string };

/** Makes the JSON Schema of a library's schema. */
export type ToJsonSchema = (schema: object, options: { io: "input" }) => object;

/** A schema, read: what the server is told, and the check of a value. */
export interface ReadSchema {
  inputSchema: JsonSchema;
  parse: (value: unknown) => Promise<ParseResult<unknown>>;
}

/** Most faults of arguments that the model is told. */
const maxFaults = 8;

/**
 * Reads a schema. Its top level must be an object: providers take no other arguments.
 *
 * @param place what the schema is of, for errors: `Tool "x": inputSchema`
 * @throws {TandemError} when it has no JSON Schema, with the path of the part
 */
export function readSchema(
  schema: object,
  { place, toJsonSchema }: { place: string; toJsonSchema?: ToJsonSchema | undefined },
): ReadSchema {
  const json = toJson(schema, { place, toJsonSchema });
  if (!isObjectSchema(json)) {
    throw new TandemError(`${place}: the top level must be an object; put the value into a property of one`);
  }
  return { inputSchema: json, parse: toParse(schema) };
}

function toJson(
  schema: object,
  { place, toJsonSchema }: { place: string; toJsonSchema: ToJsonSchema | undefined },
): JsonSchema {
  const convert = toConvert(schema, toJsonSchema);
  if (convert) return withPlainPatterns(convertAt(place, schema, convert));
  if (isZodThree(schema)) {
    try {
      return withPlainPatterns(fromZodThree(schema as unknown as ZodNode, place));
    } catch (cause) {
      throw new TandemError(describeError(cause), { cause });
    }
  }
  if (!isStandardSchema(schema)) return schema as JsonSchema;
  const { vendor } = schema["~standard"];
  throw new TandemError(
    `${place}: this ${vendor} schema gives no JSON Schema; pass \`toJsonSchema\`, for Zod 4 \`toJsonSchema: z.toJSONSchema\``,
  );
}

/** How a library converts its schemas; null when it does not. */
function toConvert(
  schema: object,
  toJsonSchema: ToJsonSchema | undefined,
): ((schema: object) => unknown) | null {
  if (toJsonSchema) return (part) => toJsonSchema(part, { io: "input" });
  if (!isStandardSchema(schema) || !schema["~standard"].jsonSchema) return null;
  return (part) => (part as StandardSchema)["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
}

function convertAt(place: string, schema: object, convert: (schema: object) => unknown): JsonSchema {
  try {
    const json = convert(schema);
    if (isObject(json)) return json;
  } catch (cause) {
    const { path, error } = findZodFourFault(schema, { path: place, convert, error: cause });
    throw new TandemError(`${path}: ${describeError(error)}`, { cause });
  }
  throw new TandemError(`${place}: \`toJsonSchema\` must give a JSON Schema object`);
}

function isObjectSchema({ type, anyOf, oneOf }: JsonSchema): boolean {
  const branches = anyOf ?? oneOf;
  if (type === undefined && Array.isArray(branches))
    return branches.every((branch) => isObjectSchema(branch));
  return type === undefined || type === "object";
}

/** The server has checked a plain JSON Schema; a library checks and transforms here. */
function toParse(schema: object): ReadSchema["parse"] {
  return async (value) => {
    try {
      const result = await validate(schema, value);
      return result.issues
        ? { ok: false, error: describeIssues(result.issues) }
        : { ok: true, value: result.value };
    } catch (error) {
      return { ok: false, error: `args: ${describeError(error)}` };
    }
  };
}

function describeIssues(issues: readonly SchemaIssue[]): string {
  const faults = issues
    .slice(0, maxFaults)
    .map(({ path, message }) => `${toArgPath(path ?? [])}: ${message}`);
  const more = issues.length > maxFaults ? `; and ${issues.length - maxFaults} more` : "";
  return `${faults.join("; ")}${more}`;
}

function toArgPath(path: NonNullable<SchemaIssue["path"]>): string {
  return path.reduce<string>((place, part) => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "number" ? `${place}[${key}]` : toFieldPath(place, String(key));
  }, "args");
}
