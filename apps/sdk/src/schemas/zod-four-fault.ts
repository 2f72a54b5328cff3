// Where in a Zod 4 schema the part is that has no JSON Schema: Zod's own error does not say so.
import { isObject } from "./json-schema.ts";
import { toFieldPath } from "./zod-three.ts";

/**
 * The path of the innermost part that cannot be converted, with the error for it.
 *
 * @param convert throws for what has no JSON Schema
 */
export function findZodFourFault(
  schema: unknown,
  { path, convert, error }: { path: string; convert: (schema: object) => unknown; error: unknown },
  seen = new Set<unknown>(),
): { path: string; error: unknown } {
  seen.add(schema);
  for (const [childPath, child] of listParts(schema, path)) {
    if (seen.has(child)) continue;
    try {
      convert(child);
    } catch (error) {
      return findZodFourFault(child, { path: childPath, convert, error }, seen);
    }
  }
  return { path, error };
}

/** The schemas that a schema is made of. */
function listParts(schema: unknown, path: string): [string, object][] {
  const def = (schema as { _zod?: { def?: Record<string, unknown> } })._zod?.def ?? {};
  const { shape, element, items, options, getter, rest, valueType, catchall } = def;
  const inside = [def.innerType, def.in, def.left, def.right, typeof getter === "function" ? getter() : null];
  const parts: [string, unknown][] = [
    ...(isObject(shape) ? Object.entries(shape) : []).map(([key, part]): [string, unknown] => [
      toFieldPath(path, key),
      part,
    ]),
    ...(Array.isArray(items) ? items : []).map((part, index): [string, unknown] => [
      `${path}[${index}]`,
      part,
    ]),
    ...[element, rest].map((part): [string, unknown] => [`${path}[]`, part]),
    ...[valueType, catchall].map((part): [string, unknown] => [`${path}.*`, part]),
    ...[...inside, ...(Array.isArray(options) ? options : [])].map((part): [string, unknown] => [path, part]),
  ];
  return parts.filter((part): part is [string, object] => isObject(part[1]) && "_zod" in part[1]);
}
