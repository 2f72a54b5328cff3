// Schemas of this API as data: their alternatives, with references followed.
import { namedSchemas } from "./index.ts";

/** A JSON Schema as it is walked. */
export interface SchemaNode {
  $ref?: string;
  type?: string;
  const?: unknown;
  properties?: Record<string, SchemaNode>;
  additionalProperties?: unknown;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
}

/** A schema's alternatives, references followed. */
export function branches(schema: SchemaNode): SchemaNode[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace(/#$/, "");
    const target = namedSchemas.find((candidate) => candidate.$id === name);
    return target ? branches(target as SchemaNode) : [];
  }
  return schema.anyOf ? schema.anyOf.flatMap(branches) : [schema];
}

/**
 * The field that tells an object's shape, when it names none of the shapes that there are; with the values that would.
 * Null when the fault lies elsewhere.
 */
export function findWrongTag(
  schemas: readonly SchemaNode[],
  value: object,
): { field: string; allowed: unknown[] } | null {
  const shapes = schemas.flatMap(branches).filter(({ type }) => type === "object");
  for (const [field, tag] of Object.entries(value)) {
    const isOpen = shapes.some((shape) => {
      const declared = ownField(shape, field);
      return declared ? declared.const === undefined : shape.additionalProperties !== false;
    });
    const allowed = shapes.flatMap((shape) => ownField(shape, field)?.const ?? []);
    if (!isOpen && allowed.length > 0 && !allowed.includes(tag)) return { field, allowed };
  }
  return null;
}

function ownField({ properties = {} }: SchemaNode, field: string): SchemaNode | undefined {
  return Object.hasOwn(properties, field) ? properties[field] : undefined;
}
