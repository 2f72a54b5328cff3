// Messages as people write them, and as the API takes them.
import type { UserMessageBatch, UserMessageEvent } from "./generated/types.gen.ts";

/** A message: a text, or an object that can carry images too. */
export type Message = string | UserMessageEvent;

/** The body of a message, or of several that are taken up together. */
export function toMessageBody(messages: Message | readonly Message[]): UserMessageEvent | UserMessageBatch {
  return isList(messages)
    ? { type: "batch", messages: messages.map(toUserMessage) }
    : toUserMessage(messages);
}

/** A message as an event. */
export function toUserMessage(message: Message): UserMessageEvent {
  return typeof message === "string" ? { type: "user_message", message } : message;
}

/** `Array.isArray` that knows read-only lists. */
export function isList(messages: Message | readonly Message[]): messages is readonly Message[] {
  return Array.isArray(messages);
}
