// What Anthropic refuses beyond a top level that is no plain object: names of properties there. It looks at the top
// level alone. https://github.com/aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws/issues/709
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import type { LoweringNotes } from "./lowering-notes.ts";
import { keepReferences } from "./schema-references.ts";

/** Names that Anthropic takes: letters, digits, `_`, `.` and `-`, at most 64. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A property that an object must have, and that a provider cannot be told. */
export interface RefusedProperty {
  name: string;
  reason: string;
}

/**
 * Leaves properties out whose names Anthropic refuses; the object is then open, since a caller may still want them.
 *
 * @returns `refused` when one of them is required: no call could be right
 */
export function lowerForAnthropic(
  schema: JsonObject,
  notes: LoweringNotes,
): { schema: JsonObject; refused: RefusedProperty | null } {
  const { additionalProperties, ...open } = schema;
  const properties: JsonObject = isJsonObject(schema.properties) ? schema.properties : {};
  const wrong = Object.keys(properties).filter((name) => !PROPERTY_NAME.test(name));
  if (wrong.length === 0) return { schema, refused: null };
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const name of wrong) notes.add(["properties", name], "left out: Anthropic refuses the name");
  if (additionalProperties !== undefined)
    notes.add(["additionalProperties"], "left out with these properties");
  const left = Object.entries(properties).filter(([name]) => PROPERTY_NAME.test(name));
  const lowered = {
    ...open,
    properties: Object.fromEntries(left),
    ...(schema.required === undefined ? {} : { required: required.filter((name) => !isIn(wrong, name)) }),
  };
  const missing = wrong.find((name) => required.includes(name));
  return {
    schema: keepReferences(lowered, schema),
    refused: missing === undefined ? null : { name: missing, reason: REASON },
  };
}

const REASON =
  "Anthropic takes only letters, digits, _, . and - in the names of properties at the top level, at most 64, and this " +
  "one is required";

function isIn(names: readonly string[], name: JsonValue): boolean {
  return typeof name === "string" && names.includes(name);
}
