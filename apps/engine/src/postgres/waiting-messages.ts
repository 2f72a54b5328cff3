// Messages that wait for a step boundary. They are rows, not events, until a step takes them up.
import type pg from "pg";
import type { UserMessage } from "../domain/messages.ts";
import { toJsonText } from "./update-session.ts";

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
    [sessionId, messages.map(toJsonText)],
  );
}

/** Takes every waiting message out, oldest first. */
export async function takeMessages(tx: pg.ClientBase, sessionId: string): Promise<UserMessage[]> {
  const { rows } = await tx.query<{ id: string; message: UserMessage }>(
    "DELETE FROM waiting_messages WHERE session_id = $1 RETURNING id, message",
    [sessionId],
  );
  // DELETE returns rows in no promised order.
  return rows.sort((a, b) => Number(BigInt(a.id) - BigInt(b.id))).map((row) => row.message);
}

/** True when a message waits that no step has seen. */
export async function hasWaitingMessages(tx: pg.ClientBase, sessionId: string): Promise<boolean> {
  const { rowCount } = await tx.query("SELECT FROM waiting_messages WHERE session_id = $1 LIMIT 1", [
    sessionId,
  ]);
  return rowCount === 1;
}
