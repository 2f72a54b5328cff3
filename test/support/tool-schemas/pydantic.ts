// As Pydantic writes them, TypeBox, and generators from OpenAPI, Go and C#.
import type { JsonObject } from "@tandem/engine/domain/json";
import { objectOf, only, toolSchema } from "./tool-schema.ts";

const draft7 = "http://json-schema.org/draft-07/schema#";
const draft2020 = "https://json-schema.org/draft/2020-12/schema";
const optional = (schema: JsonObject, title: string): JsonObject => ({
  anyOf: [schema, { type: "null" }],
  default: null,
  title,
});

export const pydanticSchemas = [
  toolSchema(
    "pydantic_model",
    {
      title: "CreateUserArguments",
      type: "object",
      properties: {
        user: { $ref: "#/$defs/User" },
        notify: { type: "boolean", default: true, title: "Notify" },
      },
      required: ["user"],
      $defs: {
        Role: { enum: ["admin", "member"], title: "Role", type: "string" },
        User: objectOf(
          {
            name: { title: "Name", type: "string" },
            role: { $ref: "#/$defs/Role", default: "member" },
            age: optional({ type: "integer", exclusiveMinimum: 0 }, "Age"),
          },
          "name",
        ),
      },
    },
    { user: { name: "a", role: "admin", age: null } },
    { user: { name: "a", age: 3 }, notify: false },
  ),
  toolSchema(
    "pydantic_union",
    {
      ...objectOf(
        {
          pet: {
            discriminator: { propertyName: "kind", mapping: { cat: "#/$defs/Cat", dog: "#/$defs/Dog" } },
            oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }],
          },
        },
        "pet",
      ),
      $defs: {
        Cat: objectOf(
          { kind: { const: "cat", type: "string" }, lives: { type: "integer" } },
          "kind",
          "lives",
        ),
        Dog: objectOf(
          { kind: { const: "dog", type: "string" }, barks: { type: "boolean" } },
          "kind",
          "barks",
        ),
      },
    },
    { pet: { kind: "cat", lives: 9 } },
    { pet: { kind: "dog", barks: true } },
  ),
  toolSchema(
    "pydantic_node",
    {
      ...objectOf({ node: { $ref: "#/$defs/Node" } }, "node"),
      $defs: {
        Node: objectOf(
          {
            name: { type: "string" },
            left: optional({ $ref: "#/$defs/Node" }, "Left"),
            right: optional({ $ref: "#/$defs/Node" }, "Right"),
          },
          "name",
        ),
      },
    },
    {
      node: {
        name: "a",
        left: { name: "b", left: null, right: { name: "c", left: { name: "d" } } },
        right: null,
      },
    },
  ),
  toolSchema(
    "pydantic_all_of",
    {
      ...objectOf({
        level: { allOf: [{ $ref: "#/definitions/Level" }], default: 1, description: "How much" },
      }),
      definitions: { Level: { type: "integer", enum: [1, 2, 3], title: "Level" } },
    },
    { level: 2 },
  ),
  toolSchema(
    "pydantic_tuple",
    objectOf(
      {
        range: {
          type: "array",
          prefixItems: [{ type: "integer" }, { type: "integer" }],
          minItems: 2,
          maxItems: 2,
        },
      },
      "range",
    ),
    { range: [1, 2] },
  ),
  toolSchema(
    "pydantic_dict",
    objectOf({
      tags: optional(
        { type: "object", additionalProperties: { type: "array", items: { type: "string" } } },
        "Tags",
      ),
    }),
    { tags: { a: ["b"] } },
    { tags: null },
  ),
  toolSchema(
    "typebox_root_reference",
    { $ref: "#/$defs/Input", $defs: { Input: only({ q: { type: "string" } }, "q") } },
    { q: "x" },
  ),
  toolSchema(
    "typebox_literals",
    objectOf(
      {
        size: {
          anyOf: [
            { const: "s", type: "string" },
            { const: "m", type: "string" },
            { const: 3, type: "number" },
          ],
        },
      },
      "size",
    ),
    { size: "m" },
    { size: 3 },
  ),
  toolSchema(
    "openapi_body",
    objectOf({
      body: {
        type: "object",
        nullable: true,
        properties: {
          status: { type: "string", enum: ["a", "b"], example: "a" },
          at: { type: "string", format: "date-time", readOnly: true },
        },
        required: ["status"],
      },
      id: { type: "integer", format: "int64" },
    }),
    { body: null, id: 1 },
    { body: { status: "a" } },
  ),
  toolSchema(
    "openapi_mutual",
    {
      ...objectOf({ folder: { $ref: "#/$defs/Folder" } }, "folder"),
      $defs: {
        Folder: objectOf(
          {
            name: { type: "string" },
            entries: {
              type: "array",
              items: { oneOf: [{ $ref: "#/$defs/Folder" }, { $ref: "#/$defs/File" }] },
            },
          },
          "name",
          "entries",
        ),
        File: objectOf(
          { name: { type: "string" }, size: { type: "integer" }, parent: { $ref: "#/$defs/Folder" } },
          "name",
          "size",
        ),
      },
    },
    {
      folder: {
        name: "a",
        entries: [
          { name: "b", size: 1 },
          { name: "c", entries: [{ name: "d", entries: [{ name: "e", size: 2 }] }] },
        ],
      },
    },
  ),
  toolSchema(
    "comment_thread",
    objectOf({ text: { type: "string" }, replies: { type: "array", items: { $ref: "#" } } }, "text"),
    { text: "a", replies: [{ text: "b", replies: [{ text: "c", replies: [{ text: "d" }] }] }] },
  ),
  toolSchema(
    "go_struct",
    {
      $schema: draft2020,
      ...only({
        opts: { properties: { limit: { type: "integer" } }, additionalProperties: false, type: "object" },
      }),
    },
    { opts: { limit: 1 } },
    {},
  ),
  toolSchema(
    "csharp_enum",
    objectOf({
      day: { type: ["string", "integer"], enum: ["Monday", "Tuesday", 0, 1] },
      when: { type: ["string", "null"], format: "date" },
    }),
    { day: 0, when: null },
    { day: "Monday", when: "2026-01-01" },
  ),
  toolSchema(
    "patterned",
    {
      type: "object",
      properties: { name: { type: "string" } },
      patternProperties: { "^x-": { type: "string" } },
      additionalProperties: false,
    },
    { name: "a", "x-b": "c" },
  ),
  toolSchema(
    "dependent",
    {
      $schema: draft7,
      ...objectOf({ card: { type: "string" }, address: { type: "string" } }),
      dependencies: { card: ["address"] },
    },
    { card: "1", address: "a" },
  ),
];
