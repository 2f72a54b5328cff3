// Messages that wait for a step boundary. They are rows, not events, until a step takes them up.

import type pg from "pg";
import { stringifyJson } from "../domain/json.ts";
import type { UserMessage } from "../domain/messages.ts";
import { prepared } from "./prepared.ts";

/** A message that waits for a step boundary. */
export interface WaitingMessage {
  id: string;
  message: UserMessage;
}

/** Stores messages, in order. */
export async function insertMessages(
  tx: pg.ClientBase,
  sessionId: string,
  messages: readonly UserMessage[],
): Promise<void> {
  await tx.query(
    `INSERT INTO waiting_messages (session_id, message)
     SELECT $1, sent.message::json FROM unnest($2::text[]) WITH ORDINALITY AS sent (message, position)
      ORDER BY sent.position`,
    [sessionId, messages.map(stringifyJson)],
  );
}

/** The waiting messages, oldest first. */
export async function readMessages(tx: pg.ClientBase, sessionId: string): Promise<WaitingMessage[]> {
  const { rows } = await tx.query<WaitingMessage>(
    prepared("SELECT id::text, message FROM waiting_messages WHERE session_id = $1 ORDER BY id", [sessionId]),
  );
  return rows;
}

/** True when a message waits that no step has seen. */
export async function hasWaitingMessages(tx: pg.ClientBase, sessionId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    prepared("SELECT FROM waiting_messages WHERE session_id = $1 LIMIT 1", [sessionId]),
  );
  return rowCount === 1;
}
