// SQL, browsers, search, and services with odd names.
import { objectOf, only, text, toolSchema } from "./tool-schema.ts";

export const dataSchemas = [
  toolSchema("query", only({ sql: text("One SELECT") }, "sql"), { sql: "SELECT 1" }),
  toolSchema(
    "execute",
    objectOf(
      {
        sql: { type: "string" },
        params: { type: "array", items: { type: ["string", "number", "boolean", "null"] } },
      },
      "sql",
    ),
    { sql: "x", params: ["a", 1, true, null] },
  ),
  toolSchema(
    "insert_rows",
    objectOf(
      {
        table: { type: "string" },
        rows: { type: "array", items: { type: "object", additionalProperties: true }, minItems: 1 },
      },
      "table",
      "rows",
    ),
    {
      table: "t",
      rows: [{ a: 1, b: null }],
    },
  ),
  toolSchema(
    "filter_rows",
    {
      ...objectOf({ where: { $ref: "#/definitions/condition" } }, "where"),
      definitions: {
        condition: {
          anyOf: [
            only(
              { column: { type: "string" }, op: { enum: ["=", "<", ">"] }, value: {} },
              "column",
              "op",
              "value",
            ),
            only({ and: { type: "array", items: { $ref: "#/definitions/condition" } } }, "and"),
            only({ or: { type: "array", items: { $ref: "#/definitions/condition" } } }, "or"),
          ],
        },
      },
    },
    {
      where: {
        and: [{ column: "a", op: "=", value: 1 }, { or: [{ and: [{ column: "b", op: "<", value: null }] }] }],
      },
    },
  ),
  toolSchema(
    "aggregate",
    objectOf(
      { collection: { type: "string" }, pipeline: { type: "array", items: { type: "object" } } },
      "collection",
      "pipeline",
    ),
    {
      collection: "c",
      pipeline: [{ $match: { a: 1 } }],
    },
  ),
  toolSchema(
    "set_key",
    objectOf(
      { key: { type: "string" }, value: true, ttl: { type: "integer", format: "int32" } },
      "key",
      "value",
    ),
    {
      key: "k",
      value: { a: [[1]] },
      ttl: 5,
    },
  ),
  toolSchema(
    "vector_search",
    objectOf(
      {
        vector: { type: "array", items: { type: "number", format: "float" }, minItems: 2 },
        top_k: { type: "integer" },
      },
      "vector",
    ),
    {
      vector: [0.5, 1],
      top_k: 3,
    },
  ),
  toolSchema("navigate", objectOf({ url: { type: "string", format: "uri" } }, "url"), {
    url: "https://a.test/",
  }),
  toolSchema(
    "click",
    {
      type: "object",
      properties: {
        selector: { type: "string" },
        x: { type: "number" },
        y: { type: "number" },
        button: { enum: ["left", "right", "middle"] },
      },
      oneOf: [{ required: ["selector"] }, { required: ["x", "y"] }],
    },
    { selector: "#a" },
    { x: 1, y: 2, button: "left" },
  ),
  toolSchema(
    "fill_form",
    objectOf(
      {
        fields: {
          type: "array",
          items: objectOf(
            {
              ref: { type: "string" },
              value: { anyOf: [{ type: "string" }, { type: "boolean" }, { type: "number" }] },
            },
            "ref",
            "value",
          ),
        },
      },
      "fields",
    ),
    {
      fields: [
        { ref: "a", value: true },
        { ref: "b", value: 2 },
      ],
    },
  ),
  toolSchema(
    "screenshot",
    objectOf({
      fullPage: { type: "boolean" },
      clip: { type: ["object", "null"], properties: { x: { type: "number" } }, required: ["x"] },
    }),
    { clip: null },
    { clip: { x: 1 } },
  ),
  toolSchema(
    "evaluate",
    objectOf(
      {
        script: { type: "string" },
        args: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] },
      },
      "script",
    ),
    {
      script: "s",
      args: ["a", 1, null],
    },
  ),
  toolSchema(
    "web_search",
    objectOf(
      {
        query: { type: "string", maxLength: 400 },
        count: { type: "number", default: 10 },
        safe: { type: "boolean", enum: [true] },
        freshness: { type: "string", format: "odd-format" },
      },
      "query",
    ),
    { query: "q", safe: true, freshness: "x" },
  ),
  toolSchema(
    "list_builds",
    objectOf({
      limit: { type: "integer" },
      "filter[app]": { type: "array", items: { type: "string" } },
      "filter[version]": { type: "string" },
    }),
    {
      limit: 1,
    },
  ),
  toolSchema(
    "list_drive",
    only(
      {
        folder: { type: "string" },
        $top: { type: "integer" },
        "@microsoft.graph.conflictBehavior": { type: "string" },
      },
      "folder",
    ),
    { folder: "f" },
  ),
  toolSchema(
    "nested_names",
    objectOf(
      {
        body: objectOf({ "Account Number": { type: "string" }, $top: { type: "integer" } }, "Account Number"),
      },
      "body",
    ),
    {
      body: { "Account Number": "1", $top: 2 },
    },
  ),
];
