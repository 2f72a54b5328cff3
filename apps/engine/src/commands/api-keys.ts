// The keys of organizations: make and revoke. A key itself is told once, to whoever makes it.
import type pg from "pg";
import { SYSTEM_ORGANIZATION } from "../domain/agents.ts";
import {
  hashApiKey,
  KEY_NAME_PATTERN,
  MAX_KEY_NAME_LENGTH,
  newApiKey,
  toKeyHint,
} from "../domain/api-keys.ts";
import { invalidRequest } from "../domain/errors.ts";
import {
  type ApiKeyView,
  endApiKey,
  readExpiry,
  toApiKeyView,
  withOrganization,
} from "../postgres/api-keys.ts";
import type { Catalogue } from "../postgres/catalogue.ts";
import { DEFAULT_USER, ensureOrganization } from "./bootstrap.ts";

/** What keys are managed with. */
export interface KeyContext {
  pool: pg.Pool;
  catalogue: Catalogue;
}

/** What a key is made from. */
export interface NewApiKey {
  organization: string;
  /** What lists call it, `key` by default. */
  name?: string | undefined;
  /** `default` by default. */
  user?: string | undefined;
  /** Days until it ends; absent: it does not. */
  expiresDays?: number | undefined;
  isAdmin?: boolean | undefined;
}

/**
 * Makes a key; its organization too, when it is new.
 *
 * @returns the key, which cannot be read again
 * @throws {TandemError} `invalid_request` for the server's own organization, and for names that are none
 */
export async function createApiKey(
  { pool, catalogue }: KeyContext,
  input: NewApiKey,
): Promise<{ view: ApiKeyView; key: string }> {
  const { organization, name = "key", user = DEFAULT_USER, expiresDays, isAdmin = false } = input;
  checkNames({ organization, name, user });
  const key = newApiKey();
  const row = await catalogue.apiKey.create({
    data: {
      organizationId: await ensureOrganization(catalogue, organization),
      name,
      userName: user,
      keyHash: hashApiKey(key),
      hint: toKeyHint(key),
      isAdmin,
      expiresAt: expiresDays === undefined ? null : await readExpiry(pool, expiresDays),
    },
    include: withOrganization,
  });
  return { view: toApiKeyView(row), key };
}

function checkNames(names: { organization: string; name: string; user: string }): void {
  const pattern = new RegExp(KEY_NAME_PATTERN, "u");
  for (const [field, text] of Object.entries(names)) {
    const { length } = [...text];
    if (length >= 1 && length <= MAX_KEY_NAME_LENGTH && pattern.test(text)) continue;
    throw invalidRequest(
      ["body", field],
      `${field} must have 1 to ${MAX_KEY_NAME_LENGTH} characters and no control characters or half surrogate pairs`,
    );
  }
  if (names.organization === SYSTEM_ORGANIZATION) {
    throw invalidRequest(
      ["body", "organization"],
      `the organization ${SYSTEM_ORGANIZATION} is the server's own; choose another`,
    );
  }
}

/** Revokes a key for good; false when there is none with this id. A process may know it for ten seconds more. */
export async function revokeApiKey({ pool }: KeyContext, id: string): Promise<boolean> {
  return endApiKey(pool, id);
}
