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

/** The parts of each kind of schema, and what they add to its path. */
const partPaths: Record<string, string> = {
  ...{ innerType: "", in: "", left: "", right: "", options: "", getter: "" },
  ...{ shape: "", items: "", element: "[]", rest: "[]", valueType: ".*", catchall: ".*" },
};

/** The schemas that a schema is made of. */
function listParts(schema: unknown, path: string): [string, object][] {
  const def = (schema as { _zod?: { def?: Record<string, unknown> } })._zod?.def ?? {};
  const parts = Object.entries(partPaths).flatMap(([name, more]): [string, unknown][] => {
    const part = def[name];
    if (name === "shape")
      return Object.entries(part ?? {}).map(([key, each]) => [toFieldPath(path, key), each]);
    if (!Array.isArray(part)) return [[path + more, typeof part === "function" ? part() : part]];
    return part.map((each, index) => [name === "items" ? `${path}[${index}]` : path, each]);
  });
  return parts.filter((part): part is [string, object] => isObject(part[1]) && "_zod" in part[1]);
}
