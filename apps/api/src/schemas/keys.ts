// API keys as they are asked for and shown: never the key itself but once, never its hash.
import { type Static, Type } from "@sinclair/typebox";
import { KEY_NAME_PATTERN, MAX_KEY_DAYS, MAX_KEY_NAME_LENGTH } from "@tandem/engine/domain/api-keys";
import type { ApiKeyView } from "@tandem/engine/postgres/api-keys";
import { page } from "./sessions.ts";
import { nullable, ref, timestamp } from "./typebox.ts";

const name = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_KEY_NAME_LENGTH,
    pattern: KEY_NAME_PATTERN,
    errorHint: "text without control characters and half surrogate pairs",
    description,
  });

/** What a key is made from. Closed: a misspelt expiry would make a key that never ends. */
export const NewApiKey = Type.Object(
  {
    organization: name("Whose sessions and agents the key reaches. It is made when it is new."),
    name: Type.Optional(name("What lists call the key; `key` by default.")),
    user: Type.Optional(name("Who its sessions belong to within the organization; `default` by default.")),
    expires_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_KEY_DAYS,
        description: "Days until the key ends; absent: it does not.",
      }),
    ),
    admin: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Whether the key manages the keys of every organization.",
      }),
    ),
  },
  {
    $id: "NewApiKey",
    additionalProperties: false,
    examples: [{ organization: "acme", name: "ci", user: "ann", expires_days: 90 }],
  },
);

const view = {
  id: Type.String({ format: "uuid" }),
  organization: Type.String(),
  name: Type.String(),
  user: Type.String(),
  hint: Type.String({
    description: "The first characters of a key that was made here; empty for a chosen one.",
  }),
  admin: Type.Boolean(),
  created_at: timestamp(),
  expires_at: nullable(timestamp(), { description: "When the key ends; null: it does not." }),
  revoked_at: nullable(timestamp()),
  last_used_at: nullable(timestamp(), { description: "Exact to the minute." }),
};

export const ApiKey = Type.Object(view, { $id: "ApiKey" });

export const CreatedApiKey = Type.Object(
  { ...view, key: Type.String({ description: "The key. It is shown this once." }) },
  { $id: "CreatedApiKey" },
);

export const KeyPage = page("Page_ApiKey_", ref(ApiKey));

/** A key in the wire's shape. */
export function toApiKey(key: ApiKeyView): Static<typeof ApiKey> {
  return {
    id: key.id,
    organization: key.organization,
    name: key.name,
    user: key.userName,
    hint: key.hint,
    admin: key.isAdmin,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

export const keySchemas = [NewApiKey, ApiKey, CreatedApiKey, KeyPage];
