// How large a schema is in the measures that providers limit strict tools by.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { resolveReference } from "./schema-references.ts";
import { mapSubschemas } from "./schema-walk.ts";

/** Measures of a schema. */
export interface StrictSize {
  properties: number;
  /** Properties that need not be given. */
  optional: number;
  /** Places with several types or alternatives. */
  unions: number;
  enumValues: number;
  /** Characters of names, of definitions too, and of the values of `enum` and `const`. */
  characters: number;
  /** Levels of objects. */
  depth: number;
  /** The most values, and their characters, of one `enum` of more than 250. */
  longEnumCharacters: number;
}

const LIMITS = {
  /** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
  openai: {
    properties: 5_000,
    enumValues: 1_000,
    characters: 120_000,
    depth: 10,
    longEnumCharacters: 15_000,
  },
  /**
   * Anthropic documents 24 optional properties and 16 unions for all strict tools of a request together; the AI SDK
   * found requests refused from 13 optional ones on, and stays at 10 (supports-native-structured-output-schema.ts).
   */
  anthropic: { optional: 10, unions: 16 },
} as const satisfies Record<string, Partial<StrictSize>>;

/** How many strict tools one request may have: https://platform.claude.com/docs/en/build-with-claude/structured-outputs */
const MAX_STRICT_TOOLS = { openai: Number.POSITIVE_INFINITY, anthropic: 20 } as const;

type StrictProvider = keyof typeof LIMITS;

/** Why a schema is too large for a strict tool; null when it is not. */
export function measureStrict(schema: JsonObject, provider: StrictProvider): string | null {
  return findExcess(sizeOf(schema), provider);
}

/** Counts the strict tools of one request, which have some limits together. */
export interface StrictBudget {
  /** Why this one would be too much beside the ones before; null when it fits, and is then counted. */
  add(schema: JsonObject): string | null;
}

/** A budget for one request. */
export function createStrictBudget(provider: StrictProvider): StrictBudget {
  let tools = 0;
  const all = { optional: 0, unions: 0 };
  return {
    add(schema) {
      if (provider !== "anthropic") return null;
      if (tools >= MAX_STRICT_TOOLS[provider]) return `a request has ${tools} strict tools at most`;
      const { optional, unions } = sizeOf(schema);
      const together = { optional: all.optional + optional, unions: all.unions + unions };
      const excess = findExcess({ ...EMPTY, ...together }, provider);
      if (excess) return `with the strict tools before it ${excess}`;
      tools += 1;
      Object.assign(all, together);
      return null;
    },
  };
}

function findExcess(size: StrictSize, provider: StrictProvider): string | null {
  const limits: Partial<StrictSize> = LIMITS[provider];
  for (const [measure, limit] of Object.entries(limits) as [keyof StrictSize, number][]) {
    if (size[measure] > limit)
      return `there are ${size[measure]} ${WORDS[measure]}; at most ${limit} are taken`;
  }
  return null;
}

const WORDS: Record<keyof StrictSize, string> = {
  properties: "properties",
  optional: "optional properties",
  unions: "places with several types",
  enumValues: "values of enum",
  characters: "characters of names and values",
  depth: "levels of objects",
  longEnumCharacters: "characters in one long enum",
};

const EMPTY: StrictSize = {
  properties: 0,
  optional: 0,
  unions: 0,
  enumValues: 0,
  characters: 0,
  depth: 0,
  longEnumCharacters: 0,
};

function sizeOf(schema: JsonObject): StrictSize {
  const size = { ...EMPTY };
  measure(schema, 0, size);
  return size;
}

function measure(node: JsonObject, depth: number, size: StrictSize): void {
  const properties = isJsonObject(node.properties) ? Object.keys(node.properties) : [];
  const required = Array.isArray(node.required) ? node.required : [];
  const values = Array.isArray(node.enum)
    ? node.enum
    : Object.hasOwn(node, "const")
      ? [node.const ?? null]
      : [];
  const definitions = [node.$defs, node.definitions].flatMap((defs) =>
    isJsonObject(defs) ? Object.keys(defs) : [],
  );
  const characters = values.reduce<number>((sum, value) => sum + String(value).length, 0);
  size.properties += properties.length;
  size.optional += properties.filter((name) => !required.includes(name)).length;
  if (Array.isArray(node.type) || node.anyOf !== undefined) size.unions += 1;
  size.enumValues += values.length;
  size.characters += characters + [...properties, ...definitions].join("").length;
  if (values.length > 250) size.longEnumCharacters = Math.max(size.longEnumCharacters, characters);
  const below = properties.length > 0 ? depth + 1 : depth;
  size.depth = Math.max(size.depth, below);
  mapSubschemas(node, (child) => {
    if (isJsonObject(child)) measure(child, below, size);
    return child;
  });
}

/** Longest way through references that is followed. */
const MAX_WAY = 200;

/** True when a reference leads back to where it stands, or so far that it might as well. */
export function findRecursion(root: JsonObject): boolean {
  const within = new Set<JsonValue>();
  const done = new Set<JsonValue>();
  const visit = (node: JsonValue | undefined): boolean => {
    if (!isJsonObject(node) || done.has(node)) return false;
    if (within.has(node) || within.size > MAX_WAY) return true;
    within.add(node);
    const below: JsonValue[] = [];
    mapSubschemas(node, (child) => {
      below.push(child);
      return child;
    });
    const isFound = [resolveReference(root, node.$ref), ...below].some(visit);
    within.delete(node);
    done.add(node);
    return isFound;
  };
  return visit(root);
}
