// TypeBox as this API uses it: named schemas that become components of the OpenAPI document.
import { type Static, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";

/** A reference to a named schema, typed as that schema. */
export function ref<T extends TSchema>(schema: T): TUnsafe<Static<T>> {
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` });
}

/** The schema's value or null. */
export function nullable<T extends TSchema>(
  schema: T,
  options: { description?: string; default?: unknown } = {},
) {
  return Type.Unsafe<Static<T> | null>(Type.Union([schema, Type.Null()], options));
}

/** One of some strings. */
export function stringEnum<const T extends readonly string[]>(
  values: T,
  options: { $id?: string; description?: string; default?: T[number] } = {},
) {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...options });
}

/** A moment, RFC 3339 in UTC. */
export const timestamp = (description?: string) =>
  Type.String({ format: "date-time", ...(description ? { description } : {}) });

/** Any JSON value. */
export const anyJson = (description: string) =>
  Type.Unsafe<import("@tandem/engine/domain/json").JsonValue>({ description });

/** An object with any keys. */
export const openObject = (description: string) =>
  Type.Unsafe<import("@tandem/engine/domain/json").JsonObject>({
    type: "object",
    additionalProperties: true,
    description,
  });
