// References that lead back to themselves without descending into a value: checking one would never end.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { resolveReference } from "./schema-references.ts";
import { mapSubschemas, type SchemaPath } from "./schema-walk.ts";

/** Keywords whose schemas are for the same value as the schema they are in. */
const SAME_VALUE: ReadonlySet<string | number> = new Set([
  ...["allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"],
]);

/**
 * The place of a `$ref` that closes a ring of references for one and the same value; null when there is none. A tree, whose
 * children are of the same form, has none.
 */
export function findReferenceCycle(root: JsonObject): SchemaPath | null {
  const done = new Set<JsonValue>();
  const within = new Set<JsonValue>();
  let cycle: SchemaPath | null = null;
  const visit = (node: JsonValue | undefined, path: SchemaPath): void => {
    if (cycle !== null || !isJsonObject(node) || done.has(node)) return;
    within.add(node);
    const target = resolveReference(root, node.$ref);
    if (target !== undefined && within.has(target)) cycle = [...path, "$ref"];
    visit(target, [...path, "$ref"]);
    mapSubschemas(node, (child, at) => {
      if (SAME_VALUE.has(at[0] ?? "")) visit(child, [...path, ...at]);
      return child;
    });
    within.delete(node);
    done.add(node);
  };
  const visitAll = (node: JsonValue, path: SchemaPath): void => {
    if (!isJsonObject(node)) return;
    visit(node, path);
    mapSubschemas(node, (child, at) => {
      visitAll(child, [...path, ...at]);
      return child;
    });
  };
  visitAll(root, []);
  return cycle;
}
