// Whatever a provider is told, it may only be wider than the caller's schema.
import type { JsonObject, JsonValue } from "@tandem/engine/domain/json";
import { lowerForProvider } from "@tandem/engine/domain/lower-for-provider";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, it } from "vitest";

const ajv = new Ajv2020({ strict: false, logger: false });

const names = fc.constantFrom("a", "b", "c");
const value = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(null, true, 0, 7, 1.5, "", "x", "xyz"),
    tie("object"),
    fc.array(tie("value"), { maxLength: 2 }),
  ),
  object: fc.dictionary(names, tie("value"), { maxKeys: 3, noNullPrototype: true }),
}));

/** Schemas that say their types, with the keywords that go with them. */
const { schema } = fc.letrec<{ schema: JsonValue; object: JsonObject }>((tie) => {
  const pick = fc.constantFrom<JsonValue>(
    ...[true, {}, { const: "x" }, { enum: ["x", 7, null] }, { enum: ["", "x"] }, { type: "null" }],
    ...[
      { type: "string", minLength: 2 },
      { type: "string", nullable: true },
      { type: "number", minimum: 1 },
    ],
    ...[{ type: ["integer", "array"] }, { type: "array" }, { not: { type: "string" } }, { type: "boolean" }],
    ...[{ $ref: "#" }, { $ref: "#/properties/a" }, { $ref: "#/$defs/D" }],
  );
  const list = fc.array(tie("schema"), { minLength: 1, maxLength: 3 });
  return {
    schema: fc.oneof(
      { maxDepth: 4 },
      { arbitrary: pick, weight: 3 },
      { arbitrary: tie("object"), weight: 2 },
      { arbitrary: fc.record({ type: fc.constant("array"), items: tie("schema") }), weight: 1 },
      { arbitrary: fc.record({ type: fc.constant("array"), prefixItems: list }), weight: 1 },
      { arbitrary: fc.record({ anyOf: list }), weight: 1 },
      { arbitrary: fc.record({ oneOf: list }), weight: 1 },
      { arbitrary: fc.record({ allOf: list }), weight: 1 },
    ),
    object: fc.record(
      {
        type: fc.constant<JsonValue>("object"),
        properties: fc.dictionary(names, tie("schema"), { maxKeys: 3, noNullPrototype: true }),
        required: fc.uniqueArray(names, { maxLength: 1 }),
        additionalProperties: fc.constantFrom<JsonValue>(false, { type: "string" }),
        anyOf: fc.array(tie("object"), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: ["type", "properties"] },
    ),
  };
});

const root = fc
  .record({
    properties: fc.dictionary(names, schema, { minKeys: 1, noNullPrototype: true }),
    D: schema,
    isClosed: fc.boolean(),
  })
  .map(({ properties, D, isClosed }): JsonObject => {
    return { type: "object", properties, $defs: { D }, ...(isClosed ? { additionalProperties: false } : {}) };
  });

/** Ajv's verdict; null when the schema, or its check, has no end or no meaning. */
function compile(of: JsonObject): (candidate: JsonObject) => boolean | null {
  try {
    const validate = ajv.compile(of);
    return (candidate) => {
      try {
        return validate(candidate);
      } catch {
        return null;
      }
    };
  } catch {
    return () => null;
  } finally {
    ajv.removeSchema(of);
  }
}

/** How deep lists of lists go: where anything may stand, Google is told of two levels. */
function listDepth(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  const below = Math.max(0, ...Object.values(value).map(listDepth));
  return Array.isArray(value) ? below + 1 : below;
}

it.each(["openai", "anthropic", "google", "compatible"] as const)(
  "lowering for %s refuses nothing that fits",
  (provider) => {
    let fitting = 0;
    fc.assert(
      fc.property(root, fc.array(value.object, { minLength: 8, maxLength: 8 }), (original, candidates) => {
        const { schema: lowered, changes } = lowerForProvider(original, provider);
        expect(changes.join()).not.toContain("cannot be told");
        const takes = compile(original);
        const stillTakes = compile(lowered);
        for (const candidate of candidates) {
          if (listDepth(candidate) > 2 || takes(candidate) !== true) continue;
          fitting += 1;
          expect([lowered, candidate, stillTakes(candidate)]).toEqual([lowered, candidate, true]);
        }
      }),
      { numRuns: 100 },
    );
    expect(fitting).toBeGreaterThan(100);
  },
);
