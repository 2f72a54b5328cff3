// Places of a schema as Gemini takes them: with a type, or with alternatives. Beside alternatives it takes a description
// alone, so that null is a mark on one of them.
import { isJsonObject, type JsonObject, toCanonicalJson } from "./json.ts";
import type { SchemaType } from "./schema-types.ts";

/** One node of several, of which a value fits at least one. Null is a mark on the first other. */
export function toNode(nodes: readonly JsonObject[], description: string | undefined): JsonObject {
  const flat = nodes.flatMap((node) =>
    Array.isArray(node.anyOf) && !node.description ? node.anyOf : [node],
  );
  const different = [...new Map(flat.map((node) => [toCanonicalJson(node), node])).values()].filter(
    isJsonObject,
  );
  const others = different.filter((node) => node.type !== "null");
  const told = description === undefined ? {} : { description };
  const [first, ...rest] = others;
  if (!first) return { type: "null", ...told };
  const marked = others.length < different.length ? withNull(first) : first;
  if (rest.length === 0) return { ...marked, ...told };
  return { ...told, anyOf: [marked, ...rest] };
}

function withNull(node: JsonObject): JsonObject {
  if (Array.isArray(node.anyOf)) {
    const [first, ...rest] = node.anyOf.filter(isJsonObject);
    return first ? { ...node, anyOf: [withNull(first), ...rest] } : node;
  }
  if (Array.isArray(node.type)) return node;
  const values = Array.isArray(node.enum) ? { enum: [...node.enum, null] } : {};
  return { ...node, ...values, type: [node.type ?? "object", "null"] };
}

/** What takes any value of these types. */
export function toWidestNode(types: readonly SchemaType[]): JsonObject {
  return toNode(types.map(toWidest), undefined);
}

function toWidest(type: SchemaType): JsonObject {
  return type === "array" ? { type, items: ANY_ITEM } : { type };
}

const ANY_VALUE: JsonObject[] = [
  { type: ["string", "null"] },
  ...["number", "boolean", "object"].map((type) => ({ type })),
];
/** What may stand in a list of anything. Lists of lists of lists are not named: each place must have an end. */
export const ANY_ITEM: JsonObject = { anyOf: [...ANY_VALUE, { type: "array", items: { anyOf: ANY_VALUE } }] };
