// What people think of a session and of its events.
import { type Static, Type } from "@sinclair/typebox";
import { STORABLE_HINT, STORABLE_PATTERN } from "@tandem/engine/domain/text";
import type { FeedbackRow } from "@tandem/engine/postgres/feedback";
import { SessionParams } from "./params.ts";
import { nullable, ref, timestamp } from "./typebox.ts";

const words = Type.String({ maxLength: 10_000, pattern: STORABLE_PATTERN, errorHint: STORABLE_HINT });

export const Feedback = Type.Object(
  {
    success: Type.Boolean({ description: "Whether it was good." }),
    message: Type.Optional(nullable(words, { description: "Why, in words." })),
  },
  { $id: "Feedback", examples: [{ success: true, message: "It found the order." }] },
);

export const StoredFeedback = Type.Object(
  {
    event_index: nullable(Type.Integer(), { description: "The event; null for the session as a whole." }),
    success: Type.Boolean(),
    message: nullable(Type.String()),
    user: Type.String({ description: "Whose key gave it." }),
    updated_at: timestamp(),
  },
  { $id: "StoredFeedback" },
);

export const FeedbackList = Type.Object(
  {
    items: Type.Array(ref(StoredFeedback), {
      description: "First that on the session as a whole, then by event.",
    }),
  },
  { $id: "FeedbackList" },
);

/** `{id}` and `{event_index}`. An index past the end is not found, however large it is. */
export const EventParams = Type.Object({
  ...SessionParams.properties,
  event_index: Type.Integer({ minimum: 0, description: "The event's index, from 0." }),
});

/** Stored feedback in the wire's shape. */
export function toStoredFeedback(row: FeedbackRow): Static<typeof StoredFeedback> {
  return {
    event_index: row.eventIndex,
    success: row.success,
    message: row.message,
    user: row.userName,
    updated_at: row.updatedAt.toISOString(),
  };
}

export const feedbackSchemas = [Feedback, StoredFeedback, FeedbackList];
