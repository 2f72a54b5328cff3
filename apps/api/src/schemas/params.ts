// Parameters of paths and queries that several routes share.
import { Type } from "@sinclair/typebox";

/** An id of ours. The pattern is stricter than the format, which also takes `urn:uuid:…`. */
const uuid = (description: string) =>
  Type.String({
    format: "uuid",
    pattern: "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    errorHint: "a UUID",
    description,
  });

/** `{id}` of a session's routes. */
export const SessionParams = Type.Object({ id: uuid("The session's id.") });

/** `{id}` and `{call_id}` of a tool call's routes. */
export const CallParams = Type.Object({
  ...SessionParams.properties,
  call_id: Type.String({ minLength: 1, maxLength: 512, description: "The call's id." }),
});

/** `{id}` of an API key's routes. */
export const KeyParams = Type.Object({ id: uuid("The key's id, which is not the key.") });

/** `{agent_name}` of an agent's routes. */
export const AgentParams = Type.Object({
  agent_name: Type.String({
    minLength: 1,
    maxLength: 127,
    description: "The agent's name; it may hold one slash.",
  }),
});

/** The largest index that an event can have, as its column holds it. */
export const MAX_INDEX = 2_147_483_647;

/** `from_index` of the routes that read a session's events on. */
export const cursor = Type.Integer({
  minimum: 0,
  maximum: MAX_INDEX,
  default: 0,
  description: "The cursor: the number of events already seen.",
});

/** Numbers of a page, from 1, and its size. */
export const pageQuery = (size: { default: number; max: number }) => ({
  page: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: "The page's number, from 1.",
  }),
  size: Type.Integer({
    minimum: 1,
    maximum: size.max,
    default: size.default,
    description: "Items per page.",
  }),
});

/** Where a page starts. */
export const toOffset = (query: { page: number; size: number }): number => (query.page - 1) * query.size;
