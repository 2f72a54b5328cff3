// Texts, numbers and lengths of Zod 3 in JSON Schema.
import type { JsonSchema } from "./json-schema.ts";

/** A check of a text or a number. */
export interface ZodCheck {
  readonly kind: string;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly regex?: RegExp;
  readonly local?: boolean;
  readonly version?: string;
}

/** The bounds of an array. */
export interface LengthBounds {
  readonly minLength: { readonly value: number } | null;
  readonly maxLength: { readonly value: number } | null;
  readonly exactLength: { readonly value: number } | null;
}

/** Formats whose name in JSON Schema is another. A `time` of Zod has no zone, so it is no `time` there. */
const formats: Record<string, string> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  datetime: "date-time",
  date: "date",
  duration: "duration",
  emoji: "emoji",
  nanoid: "nanoid",
  cuid: "cuid",
  cuid2: "cuid2",
  ulid: "ulid",
  jwt: "jwt",
  cidr: "cidr",
  base64: "base64",
  base64url: "base64url",
};

/** What changes the text before the checks that follow. They do not hold for the text that the model writes. */
const changes = ["trim", "toLowerCase", "toUpperCase"];

/** The schema of a text. */
export function toStringSchema(checks: readonly ZodCheck[]): JsonSchema {
  const json: JsonSchema = { type: "string" };
  const patterns: string[] = [];
  const firstChange = checks.findIndex(({ kind }) => changes.includes(kind));
  checks.forEach((check, index) => {
    const { kind, value } = check;
    if (kind === "min" || kind === "length") raise(json, "minLength", value as number);
    if (firstChange >= 0 && index > firstChange) return;
    if (kind === "max" || kind === "length") lower(json, "maxLength", value as number);
    const pattern = toPattern(check);
    if (pattern !== null) patterns.push(pattern);
    const format = toFormat(check);
    if (format) json.format = format;
  });
  if (patterns.length === 1) return { ...json, pattern: patterns[0] };
  return patterns.length > 1 ? { ...json, allOf: patterns.map((pattern) => ({ pattern })) } : json;
}

function toFormat({ kind, version, local }: ZodCheck): string | undefined {
  if (kind === "ip") return version && `ip${version}`;
  return local ? undefined : formats[kind];
}

/** Flags cannot be told: a pattern that has one which counts is left to Zod. */
function toPattern({ kind, value, regex }: ZodCheck): string | null {
  if (kind === "regex" && regex && !/[imsvy]/.test(regex.flags)) return regex.source;
  if (kind === "startsWith") return `^${escapePattern(value)}.*`;
  if (kind === "endsWith") return `.*${escapePattern(value)}$`;
  return kind === "includes" ? escapePattern(value) : null;
}

function escapePattern(value: unknown): string {
  return String(value).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The schema of a number. */
export function toNumberSchema(checks: readonly ZodCheck[]): JsonSchema {
  const json: JsonSchema = { type: checks.some(({ kind }) => kind === "int") ? "integer" : "number" };
  const divisors: unknown[] = [];
  for (const { kind, value, inclusive } of checks) {
    if (kind === "multipleOf") divisors.push(value);
    if (!Number.isFinite(value)) continue;
    if (kind === "min") raise(json, inclusive ? "minimum" : "exclusiveMinimum", value as number);
    if (kind === "max") lower(json, inclusive ? "maximum" : "exclusiveMaximum", value as number);
  }
  const [multipleOf, ...others] = divisors;
  if (multipleOf !== undefined) json.multipleOf = multipleOf;
  return others.length > 0 ? { ...json, allOf: others.map((multipleOf) => ({ multipleOf })) } : json;
}

/** The bounds of an array's length. */
export function toLengths({ minLength, maxLength, exactLength }: Partial<LengthBounds>): JsonSchema {
  const least = exactLength ?? minLength;
  const most = exactLength ?? maxLength;
  return { ...(least && { minItems: least.value }), ...(most && { maxItems: most.value }) };
}

function raise(json: JsonSchema, key: string, value: number): void {
  json[key] = Math.max(value, (json[key] as number | undefined) ?? value);
}

function lower(json: JsonSchema, key: string, value: number): void {
  json[key] = Math.min(value, (json[key] as number | undefined) ?? value);
}
