// What each provider is told about a tool's arguments. A provider that refuses one schema refuses the whole request, so
// what it does not take is lowered. Lowering may only widen: arguments are checked against the caller's own schema.
import { isJsonObject, type JsonObject, stringifyJson } from "./json.ts";
import { lowerForAnthropic, type RefusedProperty } from "./lower-for-anthropic.ts";
import { lowerForGoogle } from "./lower-for-google.ts";
import { toProviderSchema } from "./lower-schema.ts";
import { createLoweringNotes, type LoweringNotes } from "./lowering-notes.ts";
import type { Provider } from "./models.ts";
import { toModernDialect } from "./modern-dialect.ts";
import type { SchemaPath } from "./schema-walk.ts";

/** A schema as a provider gets it. */
export interface LoweredSchema {
  /** An object schema that the provider takes. Any object that fits the caller's schema fits it too. */
  schema: JsonObject;
  /** What differs from the caller's schema, in words; empty when nothing does. */
  changes: string[];
  /**
   * Why no call could be right, and the place in the caller's schema: what it requires cannot be told to the provider.
   * `schema` is then without it, for sessions that have such a tool already. Null: it can be offered.
   */
  refused: { path: SchemaPath; reason: string } | null;
}

/**
 * Lowers the schema of a tool's arguments for a provider. Never throws, and remembers what it has made.
 *
 * @example
 * lowerForProvider({ type: "object", properties: { when: { type: "string", format: "date" } } }, "google").schema;
 * // { type: "object", properties: { when: { type: "string", description: "(format: \"date\")" } } }
 */
export function lowerForProvider(schema: JsonObject, provider: Provider): LoweredSchema {
  const key = `${provider} ${stringifyJson(schema)}`;
  const known = remembered.get(key);
  if (known) return known;
  const lowered = lowerSafely(schema, provider, key.length);
  remember(key, lowered);
  return lowered;
}

const remembered = new Map<string, LoweredSchema>();
let rememberedCharacters = 0;
const MAX_REMEMBERED_CHARACTERS = 2_000_000;

function remember(key: string, lowered: LoweredSchema): void {
  remembered.set(key, lowered);
  rememberedCharacters += key.length;
  for (const oldest of remembered.keys()) {
    if (rememberedCharacters <= MAX_REMEMBERED_CHARACTERS) break;
    remembered.delete(oldest);
    rememberedCharacters -= oldest.length;
  }
}

/** Longest schema that is lowered, in characters. One that is longer is refused at create time, and takes seconds. */
const MAX_LOWERED_CHARACTERS = 262_144;

/** What cannot be lowered is offered as "any object": a step goes on, and the arguments are checked as always. */
function lowerSafely(schema: JsonObject, provider: Provider, characters: number): LoweredSchema {
  try {
    if (characters > MAX_LOWERED_CHARACTERS) throw new Error("too long");
    return lower(schema, provider);
  } catch {
    const changes = ["top level: the schema cannot be told to the provider; any object is offered"];
    return { schema: { type: "object", properties: {} }, changes, refused: null };
  }
}

function lower(schema: JsonObject, provider: Provider): LoweredSchema {
  const notes = createLoweringNotes();
  const plain = toProviderSchema(schema);
  noteTopLevel(schema, plain, notes);
  if (provider === "demo") return { schema: plain, changes: notes.list(), refused: null };
  const modern = toModernDialect(plain, notes);
  if (provider === "google") {
    return { schema: lowerForGoogle(modern, notes), changes: notes.list(), refused: null };
  }
  if (provider !== "anthropic") return { schema: modern, changes: notes.list(), refused: null };
  const { schema: lowered, refused } = lowerForAnthropic(modern, notes);
  return { schema: lowered, changes: notes.list(), refused: refused && toRefusal(schema, refused) };
}

function toRefusal(schema: JsonObject, { name, reason }: RefusedProperty): LoweredSchema["refused"] {
  const isAtTop = isJsonObject(schema.properties) && Object.hasOwn(schema.properties, name);
  return { path: isAtTop ? ["properties", name] : [], reason: `property ${JSON.stringify(name)}: ${reason}` };
}

function noteTopLevel(schema: JsonObject, plain: JsonObject, notes: LoweringNotes): void {
  for (const key of Object.keys(schema)) {
    if (Object.hasOwn(plain, key)) continue;
    const text =
      key.startsWith("$") && key !== "$ref" ? "left out" : "worked into the properties, or left out";
    notes.add([], `${key} is ${text}`);
  }
  for (const key of Object.keys(plain)) {
    if (!Object.hasOwn(schema, key)) notes.add([], `${key} is added`);
  }
}
