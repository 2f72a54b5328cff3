import { type Static, Type } from "@sinclair/typebox";
import { DEFAULT_CALLER_ID, type UserMessage } from "@tandem/engine/domain/messages";
import { nullable, ref, stringEnum } from "./typebox.ts";

export const ImageContent = Type.Object(
  {
    source: Type.String({ description: "A URL, or the image's bytes in base64." }),
    type: stringEnum(["url", "base64"] as const),
    media_type: Type.Optional(nullable(Type.String())),
  },
  { $id: "ImageContent" },
);

export const UserMessageEvent = Type.Object(
  {
    type: Type.Optional(Type.Literal("user_message", { default: "user_message" })),
    message: Type.String({ description: "The text." }),
    images: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$",
          errorHint: "a data URI of a png, jpeg, gif or webp image: data:image/png;base64,…",
        }),
        {
          description: "Images as base64 data URIs.",
        },
      ),
    ),
    caller_id: Type.Optional(Type.String({ default: DEFAULT_CALLER_ID, description: "Who sends it." })),
  },
  { $id: "UserMessageEvent", examples: [{ type: "user_message", message: "Where is order A-1001?" }] },
);

export const UserMessageBatch = Type.Object(
  {
    type: Type.Optional(Type.Literal("batch", { default: "batch" })),
    messages: Type.Array(ref(UserMessageEvent), { minItems: 1, maxItems: 1_000 }),
  },
  { $id: "UserMessageBatch", additionalProperties: false },
);

/** A message with its defaults filled in. */
export function toUserMessage(sent: Static<typeof UserMessageEvent> | string): UserMessage {
  const {
    message,
    images = [],
    caller_id = DEFAULT_CALLER_ID,
  } = typeof sent === "string" ? { message: sent } : sent;
  return { type: "user_message", message, images, caller_id };
}

export const messageSchemas = [ImageContent, UserMessageEvent, UserMessageBatch];
