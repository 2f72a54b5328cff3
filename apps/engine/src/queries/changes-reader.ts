import { TandemError } from "../domain/errors.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { Engine } from "../engine.ts";
import { isDatabaseUnavailable } from "../postgres/pool.ts";
import { type ChangesKey, type ChangesRow, readChanges, readManyChanges } from "../postgres/read-changes.ts";
import { createBatches } from "./batches.ts";

/** Most polls that one statement reads for. */
const MAX_POLLS = 50;

/** Most statements under way at once for all polls, of each kind: what many read together, and what one reads alone. */
const MAX_STATEMENTS = 2;

/** Reads what polls ask for. */
export interface ChangesReader {
  /**
   * The session's state and its events from a cursor on, as of one moment that is not before the call. Whoever asks
   * for the same at the same moment gets the same object.
   *
   * @throws {TandemError} `session_not_found`, or `unavailable` when too many ask
   */
  read(key: ChangesKey): Promise<ChangesRow>;
}

/** Makes the one reader of a process: polls that read at the same moment are read by one statement. */
export function createChangesReader(engine: Engine): ChangesReader {
  const readAlone = createBatches<ChangesKey, ChangesRow | null>({
    maxItems: 1,
    maxBatches: MAX_STATEMENTS,
    fetch: (keys) => Promise.all(keys.map((key) => readChanges(engine.pool, key))),
  });
  const readTogether = createBatches<ChangesKey, ChangesRow | null | "too large">({
    maxItems: MAX_POLLS,
    maxBatches: MAX_STATEMENTS,
    async fetch(keys) {
      return readManyChanges(engine.pool, keys).catch((error: unknown) => {
        if (isDatabaseUnavailable(error)) throw error;
        engine.log.warn({ err: error }, "polls could not be read together; each is read alone");
        return keys.map(() => "too large" as const);
      });
    },
  });
  return {
    async read(key) {
      const { sessionId, organizationId, fromIndex, limit, maxBytes } = key;
      const name = `${sessionId} ${organizationId} ${fromIndex} ${limit} ${maxBytes}`;
      const found = await readTogether(name, key);
      const row = found === "too large" ? await readAlone(name, key) : found;
      return row ?? notFound(key);
    },
  };
}

function notFound({ sessionId }: SessionKey): never {
  throw new TandemError("session_not_found", `There is no session ${sessionId}.`);
}
