// A schema that is made of several which must all hold: itself, what its `$ref` leads to, and the parts of its `allOf`.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { resolveReference } from "./schema-references.ts";

/** Where a walk through a schema stands, and what it may still do. */
export interface LayerWalk {
  root: JsonObject;
  /** The targets of references that the walk is inside of. */
  followed: readonly JsonValue[];
  /** Subschemas that may still be looked into. References fan out, and past this the rest is taken for "anything". */
  budget: { left: number };
}

/** The schemas that a value must all fit. */
export interface Layers {
  /** Without `$ref` and `allOf`. The first has the last word in what is said once. */
  schemas: JsonObject[];
  /** How many of them come from the first of the given schemas; the others stand elsewhere too. */
  ofFirst: number;
  /** The walk inside of them. */
  walk: LayerWalk;
  /** True when a reference was not followed, since it leads back to where the walk is. */
  isCut: boolean;
}

/** How often one target is written out inside itself, so that a model sees the shape of a tree. */
const MAX_REPEATS = 2;

/** Longest way through references that is followed. */
const MAX_WAY = 64;

/** The layers of schemas that must all hold; null when one of them takes nothing. */
export function toLayers(schemas: readonly JsonValue[], walk: LayerWalk): Layers | null {
  const layers: Layers = { schemas: [], ofFirst: 0, walk, isCut: false };
  const isPossible = schemas.every((schema, index) => {
    const takesSome = addLayers(schema, layers);
    if (index === 0) layers.ofFirst = layers.schemas.length;
    return takesSome;
  });
  return isPossible ? layers : null;
}

function addLayers(schema: JsonValue, layers: Layers): boolean {
  if (schema === false) return false;
  if (!isJsonObject(schema) || layers.walk.budget.left <= 0) return true;
  layers.walk.budget.left -= 1;
  const { $ref, allOf, ...own } = schema;
  if (isJsonObject(own.not) && Object.keys(own.not).length === 0) return false;
  layers.schemas.push(own);
  if ($ref !== undefined && !followReference($ref, layers)) return false;
  return (Array.isArray(allOf) ? allOf : []).every((part) => addLayers(part, layers));
}

function followReference($ref: JsonValue, layers: Layers): boolean {
  const { root, followed, budget } = layers.walk;
  const target = resolveReference(root, $ref);
  if (target === undefined) return true;
  const repeats = followed.filter((known) => known === target).length;
  if (repeats >= MAX_REPEATS || followed.length > MAX_WAY) {
    layers.isCut = true;
    if (isJsonObject(target) && target.type !== undefined) layers.schemas.push({ type: target.type });
    return true;
  }
  layers.walk = { root, followed: [...followed, target], budget };
  return addLayers(target, layers);
}
