// From the dialects that callers write to draft 2020-12, in which providers read a schema. The meaning stays.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { LoweringNotes } from "./lowering-notes.ts";
import { resolveReference } from "./schema-references.ts";
import { mapSubschemas, type SchemaPath } from "./schema-walk.ts";

/**
 * The same schema in draft 2020-12, without what providers stumble over:
 * - a list of `items` (draft 7) is `prefixItems`;
 * - `nullable` (OpenAPI) is a type more;
 * - `true` and `false` in place of a schema are objects, since some servers read nothing else;
 * - an array has `items`: OpenAI and Google refuse one without.
 */
export function toModernDialect(schema: JsonObject, notes: LoweringNotes): JsonObject {
  const modern = modernise(schema, [], notes);
  return mendReferences(modern, { original: schema, root: modern }) as JsonObject;
}

function modernise(schema: JsonObject, path: SchemaPath, notes: LoweringNotes): JsonObject {
  const node = mapSubschemas(withNullType(withPrefixItems(schema, path, notes), path, notes), (child, at) => {
    const place = [...path, ...at];
    if (typeof child === "boolean" && !isSwitch(at)) {
      notes.add(place, `${child} is written as an object`);
      return child ? {} : { not: {} };
    }
    return isJsonObject(child) ? modernise(child, place, notes) : child;
  });
  if (!takesArrays(node.type) || node.items !== undefined) return node;
  notes.add(path, "items is added: any value");
  return { ...node, items: {} };
}

/** Keywords that are booleans as often as schemas, and that everybody reads as such. */
function isSwitch([keyword]: SchemaPath): boolean {
  return (
    keyword === "additionalProperties" || keyword === "items" || String(keyword).startsWith("unevaluated")
  );
}

function withPrefixItems(schema: JsonObject, path: SchemaPath, notes: LoweringNotes): JsonObject {
  if (!Array.isArray(schema.items)) return schema;
  const { items, additionalItems, ...rest } = schema;
  notes.add(path, "the list of items is written as prefixItems");
  return {
    ...rest,
    prefixItems: items ?? [],
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}

function withNullType(schema: JsonObject, path: SchemaPath, notes: LoweringNotes): JsonObject {
  if (typeof schema.nullable !== "boolean") return schema;
  const { nullable, ...rest } = schema;
  const types = Array.isArray(rest.type) ? rest.type : rest.type === undefined ? [] : [rest.type];
  notes.add(path, "nullable is written as a type");
  if (!nullable || types.length === 0 || types.includes("null")) return rest;
  return { ...rest, type: [...types, "null"] };
}

function takesArrays(type: JsonValue | undefined): boolean {
  return type === "array" || (Array.isArray(type) && type.includes("array"));
}

/** References into a list of `items` follow it to its new name. */
function mendReferences(schema: JsonValue, roots: { original: JsonObject; root: JsonObject }): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const { $ref } = schema;
  const isLost =
    typeof $ref === "string" &&
    resolveReference(roots.root, $ref) === undefined &&
    resolveReference(roots.original, $ref) !== undefined;
  const node = mapSubschemas(schema, (child) => mendReferences(child, roots));
  if (!isLost) return node;
  const moved = $ref.replaceAll("/additionalItems", "/items").replaceAll(/\/items\/(?=\d)/g, "/prefixItems/");
  return { ...node, $ref: moved };
}
