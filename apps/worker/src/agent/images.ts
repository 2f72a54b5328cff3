// Images of messages and results: what they are for a provider, and which of them a request has room for.
import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import type { StoredEvent } from "@tandem/engine/domain/events";
import type { JsonValue } from "@tandem/engine/domain/json";
import type { ImageContent } from "@tandem/engine/domain/messages";
import { listImages } from "@tandem/engine/domain/tool-result-forms";
import { MAX_IMAGE_CHARACTERS, MAX_IMAGES } from "./limits.ts";

/** An image as providers take it: its bytes in base64, or where it is. We never fetch one. */
export type ModelImage = { kind: "data"; mediaType: string; data: string } | { kind: "url"; url: URL };

/** What stands in a request for an image that it has no room for. */
export const LEFT_OUT = "[An image was left out: newer ones take the room.]";

/** What stands in a request for an image when the provider has refused the request that had it. */
export const REFUSED = "[An image was left out: the model's provider refused the request with it.]";

const DATA_URI = /^data:([^;,]{1,100});base64,/i;
const HTTPS = /^https:\/\//i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** How files of the formats that every provider takes begin, in base64. */
const BEGINNINGS: readonly [beginning: string, mediaType: string][] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];
const MEDIA_TYPES: ReadonlySet<string> = new Set(BEGINNINGS.map(([, mediaType]) => mediaType));

/** Reads an image of a result, or says why no model can be shown it: a provider refuses the whole request for one. */
export function readResultImage(image: JsonValue): ModelImage | { fault: string } {
  if (typeof image !== "string") return { fault: "it is neither a data URI nor an https URL" };
  const uri = DATA_URI.exec(image);
  if (!uri) return readUrl(image);
  const data = image.slice(uri[0].length);
  if (!BASE64.test(data)) return { fault: "its data URI is not valid base64" };
  const mediaType = findMediaType(data, uri[1]?.toLowerCase() ?? "");
  if (!MEDIA_TYPES.has(mediaType)) return { fault: "it is no png, jpeg, gif or webp image" };
  return { kind: "data", mediaType, data };
}

function readUrl(text: string): ModelImage | { fault: string } {
  if (/^data:/i.test(text)) return { fault: "its data URI is not in base64" };
  const isUrl = HTTPS.test(text) && URL.canParse(text);
  return isUrl ? { kind: "url", url: new URL(text) } : { fault: "it is neither a data URI nor an https URL" };
}

/** What the bytes say counts: providers refuse an image that is another than was said. */
function findMediaType(data: string, said: string): string {
  return BEGINNINGS.find(([beginning]) => data.startsWith(beginning))?.[1] ?? said;
}

/** Reads an image of a message. Its form was checked when it was sent. */
export function readMessageImage({ source, media_type }: ImageContent): ModelImage {
  return { kind: "data", mediaType: media_type ?? "image/*", data: source };
}

/** Says which images a request holds, by the event they are in and their place among its images. */
export type HasRoom = (event: StoredEvent, place: number) => boolean;

/** Gives the room of a request to the newest images. The first that does not fit goes, and with it all that are older. */
export function shareRoom(
  events: readonly StoredEvent[],
  limits = { characters: MAX_IMAGE_CHARACTERS, images: MAX_IMAGES },
): HasRoom {
  let { characters, images } = limits;
  // Of the event where the room ends, the images from this place on are kept; of older events none.
  let border = { index: -1, place: 0 };
  for (const event of events.toReversed()) {
    const sizes = listSizes(event);
    const place = sizes.findLastIndex((size) => {
      if (size === null) return false;
      characters -= size;
      images -= 1;
      return characters < 0 || images < 0;
    });
    if (place < 0) continue;
    border = { index: event.index, place: place + 1 };
    break;
  }
  return ({ index }, place) => index > border.index || (index === border.index && place >= border.place);
}

/** The lengths of an event's images; null for what no model is shown, and takes no room. */
function listSizes({ data }: StoredEvent): (number | null)[] {
  if (data.kind === "tool_result") return listImages(data.result ?? null).map(toSize);
  if (data.kind !== "message_event") return [];
  const parts = data.content as unknown as (string | ImageContent)[];
  return parts.flatMap((part) => (typeof part === "string" ? [] : [part.source.length]));
}

function toSize(image: JsonValue): number | null {
  const isShown = typeof image === "string" && (DATA_URI.test(image) || HTTPS.test(image));
  return isShown ? image.length : null;
}

/** True when a request shows the model an image, of a message or of a result. */
export function hasImages(prompt: LanguageModelV3Prompt): boolean {
  return prompt.some(
    ({ role, content }) =>
      role !== "system" &&
      content.some((part) => {
        if (part.type !== "tool-result") return part.type === "file";
        const { output } = part;
        return output.type === "content" && output.value.some(({ type }) => type.startsWith("image-"));
      }),
  );
}
