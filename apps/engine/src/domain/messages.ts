// User messages as they are sent and as they enter a session's history.

/** A message of a user: text and images as base64 data URIs. */
export interface UserMessage {
  type: "user_message";
  message: string;
  images: string[];
  caller_id: string;
}

/** An image in a history: its bytes in base64. */
export interface ImageContent {
  source: string;
  type: "base64";
  media_type?: string | null;
}

/** Who sent a message when the sender does not say. */
export const DEFAULT_CALLER_ID = "user";

/** The content of a `message_event`: the text, then the images. */
export function toMessageContent(message: UserMessage): (string | ImageContent)[] {
  return [message.message, ...message.images.map(toImageContent)];
}

/** Reads a data URI as an image. */
function toImageContent(source: string): ImageContent {
  const match = DATA_URI.exec(source);
  if (!match) return { type: "base64", source };
  return { type: "base64", source: match[2] ?? "", media_type: match[1] ?? null };
}

const DATA_URI = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s;
