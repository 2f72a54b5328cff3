// JSON Schema, and the type of the values that one describes.

/** A JSON Schema. */
export type JsonSchema = { [key: string]: unknown };

/**
 * The type of what fits a JSON Schema that is written as a literal. It knows `type`, `properties`, `required`,
 * `additionalProperties`, `items`, `prefixItems`, `enum`, `const`, `nullable`, `anyOf`, `oneOf`; what it does not know is
 * `unknown`. A TypeBox schema gives its static type.
 */
export type FromSchema<Schema> = Schema extends { readonly static: infer Static }
  ? Static
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly nullable: true }
        ? FromSchema<Omit<Schema, "nullable">> | null
        : Schema extends { readonly anyOf: readonly (infer Branch)[] }
          ? FromBranch<Branch>
          : Schema extends { readonly oneOf: readonly (infer Branch)[] }
            ? FromBranch<Branch>
            : Schema extends { readonly type: infer Type }
              ? FromType<Type, Schema>
              : Schema extends { readonly properties: object }
                ? FromObject<Schema>
                : unknown;

/** The same at the top level, where there is always an object. */
export type FromTopSchema<Schema> =
  unknown extends FromSchema<Schema> ? Record<string, unknown> : FromSchema<Schema>;

type FromBranch<Branch> = Branch extends unknown ? FromSchema<Branch> : never;

type FromType<Type, Schema> = Type extends readonly (infer Each)[]
  ? FromType<Each, Schema>
  : string extends Type
    ? unknown
    : Type extends "string"
      ? string
      : Type extends "number" | "integer"
        ? number
        : Type extends "boolean"
          ? boolean
          : Type extends "null"
            ? null
            : Type extends "array"
              ? FromArray<Schema>
              : Type extends "object"
                ? FromObject<Schema>
                : unknown;

type FromArray<Schema> = Schema extends { readonly prefixItems: readonly [...infer Items] }
  ? { -readonly [Index in keyof Items]: FromSchema<Items[Index]> }
  : Schema extends { readonly items: infer Item }
    ? FromSchema<Item>[]
    : unknown[];

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      { -readonly [Key in keyof Properties & RequiredKey<Schema>]: FromSchema<Properties[Key]> } & {
        -readonly [Key in Exclude<keyof Properties, RequiredKey<Schema>>]?: FromSchema<Properties[Key]>;
      }
    >
  : Schema extends { readonly additionalProperties: infer Value extends object }
    ? Record<string, FromSchema<Value>>
    : Record<string, unknown>;

type RequiredKey<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };

/** True for objects that are no arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
