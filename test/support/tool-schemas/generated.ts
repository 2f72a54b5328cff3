import { objectOf, only, text, toolSchema } from "./tool-schema.ts";

const draft7 = "http://json-schema.org/draft-07/schema#";
const draft2020 = "https://json-schema.org/draft/2020-12/schema";

export const generatedSchemas = [
  toolSchema(
    "zod_plain",
    { $schema: draft7, ...only({ a: { type: "number" }, b: { type: "number" } }, "a", "b") },
    { a: 1, b: 2 },
  ),
  toolSchema(
    "zod_4_plain",
    {
      $schema: draft2020,
      ...only(
        {
          id: { type: "string", format: "uuid", pattern: "^[0-9a-fA-F-]{36}$" },
          at: { type: "string", format: "date-time" },
        },
        "id",
      ),
    },
    {
      id: "123e4567-e89b-12d3-a456-426614174000",
    },
  ),
  toolSchema(
    "zod_int",
    {
      $schema: draft2020,
      ...only({ n: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 } }, "n"),
    },
    { n: 3 },
  ),
  toolSchema(
    "zod_reused",
    {
      $schema: draft7,
      ...only(
        { from: only({ name: { type: "string" } }, "name"), to: { $ref: "#/properties/from" } },
        "from",
        "to",
      ),
    },
    { from: { name: "a" }, to: { name: "b" } },
  ),
  toolSchema(
    "zod_tree",
    {
      $schema: draft2020,
      ...only({ root: { $ref: "#/$defs/__schema0" } }, "root"),
      $defs: {
        __schema0: only(
          { value: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/__schema0" } } },
          "value",
          "children",
        ),
      },
    },
    {
      root: {
        value: "a",
        children: [{ value: "b", children: [{ value: "c", children: [{ value: "d", children: [] }] }] }],
      },
    },
  ),
  toolSchema(
    "zod_discriminated",
    {
      $schema: draft2020,
      ...only(
        {
          action: {
            oneOf: [
              only({ type: { type: "string", const: "move" }, x: { type: "number" } }, "type", "x"),
              only({ type: { type: "string", const: "stop" } }, "type"),
            ],
          },
        },
        "action",
      ),
    },
    { action: { type: "move", x: 1 } },
    { action: { type: "stop" } },
  ),
  toolSchema(
    "zod_record",
    {
      $schema: draft2020,
      ...only(
        {
          scores: {
            type: "object",
            propertyNames: { type: "string" },
            additionalProperties: { type: "number" },
          },
        },
        "scores",
      ),
    },
    { scores: { a: 1 } },
  ),
  toolSchema(
    "zod_intersection",
    {
      allOf: [objectOf({ a: { type: "string" } }, "a"), objectOf({ b: { type: "integer" } }, "b")],
      unevaluatedProperties: false,
    },
    { a: "x", b: 1 },
  ),
  toolSchema(
    "not_this",
    objectOf(
      {
        name: { type: "string", not: { enum: ["root", "admin"] } },
        list: { type: "array", contains: { const: 1 }, items: { type: "integer" } },
      },
      "name",
    ),
    { name: "a", list: [1, 2] },
  ),
  toolSchema(
    "long_words",
    objectOf({ mode: text("One of many.\n- fast: quick\n- slow: careful ".repeat(20)) }, "mode"),
    { mode: "fast" },
  ),
];
