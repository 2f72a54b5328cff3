// Maps and payments.
import { objectOf, only, toolSchema } from "./tool-schema.ts";

const point = objectOf(
  { latitude: { type: "number", minimum: -90, maximum: 90 }, longitude: { type: "number" } },
  "latitude",
  "longitude",
);

export const placeSchemas = [
  toolSchema(
    "geocode",
    {
      type: "object",
      oneOf: [only({ address: { type: "string" } }, "address"), only({ latlng: point }, "latlng")],
    },
    { address: "a" },
    { latlng: { latitude: 1, longitude: 2 } },
  ),
  toolSchema(
    "directions",
    objectOf(
      {
        origin: { anyOf: [{ type: "string" }, point] },
        destination: { anyOf: [{ type: "string" }, point] },
        mode: { type: "string", enum: ["driving", "walking", "bicycling", "transit"], default: "driving" },
        avoid: { type: "array", items: { type: "string", enum: ["tolls", "ferries"] } },
      },
      "origin",
      "destination",
    ),
    { origin: "a", destination: { latitude: 1, longitude: 2 }, mode: "walking", avoid: ["tolls"] },
  ),
  toolSchema(
    "bounding_box",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      ...objectOf(
        {
          bbox: {
            type: "array",
            items: [{ type: "number" }, { type: "number" }, { type: "number" }, { type: "number" }],
            additionalItems: false,
            minItems: 4,
          },
        },
        "bbox",
      ),
    },
    { bbox: [1, 2, 3, 4] },
  ),
  toolSchema(
    "polygon",
    objectOf(
      {
        coordinates: {
          type: "array",
          items: {
            type: "array",
            items: { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 },
          },
        },
      },
      "coordinates",
    ),
    {
      coordinates: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    },
  ),
  toolSchema(
    "weather",
    objectOf(
      {
        city: { type: "string" },
        units: { type: "string", enum: ["metric", "imperial", ""] },
        days: { type: "number", enum: [1, 3, 7] },
      },
      "city",
    ),
    { city: "Oslo", units: "", days: 3 },
  ),
  toolSchema(
    "create_payment",
    objectOf(
      {
        amount: { type: "integer", minimum: 50, description: "In cents" },
        currency: { type: "string", pattern: "^[a-z]{3}$" },
        metadata: {
          type: "object",
          additionalProperties: { type: ["string", "number", "null"] },
          propertyNames: { maxLength: 40 },
          maxProperties: 50,
        },
        capture_method: { enum: ["automatic", "manual", null] },
      },
      "amount",
      "currency",
    ),
    { amount: 100, currency: "eur", metadata: { order: "1", n: 2, z: null }, capture_method: null },
  ),
  toolSchema(
    "pay_by",
    objectOf({
      method: {
        type: "object",
        required: ["type"],
        properties: { type: { enum: ["card", "iban"] } },
        oneOf: [
          { properties: { type: { const: "card" }, number: { type: "string" } }, required: ["number"] },
          { properties: { type: { const: "iban" }, iban: { type: "string" } }, required: ["iban"] },
        ],
      },
    }),
    { method: { type: "card", number: "4" } },
    { method: { type: "iban", iban: "DE" } },
  ),
  toolSchema(
    "refund",
    {
      type: "object",
      properties: {
        charge: { type: "string" },
        amount: { type: "number", multipleOf: 0.01 },
        reason: { type: "string" },
      },
      required: ["charge"],
      if: { properties: { reason: { const: "other" } }, required: ["reason"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { note: { type: "string" } }, required: ["note"] },
      dependentRequired: { amount: ["reason"] },
    },
    { charge: "c", reason: "other", note: "n" },
    { charge: "c", amount: 1.5, reason: "x" },
  ),
];
