import type { JsonObject, JsonValue } from "@tandem/engine/domain/json";

/** The schema of a tool as people write them, and arguments that a model would give. */
export interface ToolSchema {
  name: string;
  schema: JsonObject;
  args: JsonObject[];
}

/** A tool's schema with arguments that fit. */
export function toolSchema(name: string, schema: JsonObject, ...args: JsonObject[]): ToolSchema {
  return { name, schema, args };
}

/** An object schema with these properties, of which some are required. */
export function objectOf(properties: Record<string, JsonValue>, ...required: string[]): JsonObject {
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

/** The same, and nothing else is allowed. */
export function only(properties: Record<string, JsonValue>, ...required: string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Text with a description. */
export const text = (description: string): JsonObject => ({ type: "string", description });
