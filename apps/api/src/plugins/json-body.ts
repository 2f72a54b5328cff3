// Reading request bodies: JSON only, bounded in size and depth, every key kept as sent.
import { TandemError } from "@tandem/engine/domain/errors";
import { jsonTextDepth, MAX_JSON_DEPTH } from "@tandem/engine/domain/json";
import type { App } from "../context.ts";

/** Largest body, in bytes: what the reference's clients allow themselves. */
export const MAX_BODY_BYTES = 10_000_000;

/** Adds the one parser for bodies. An absent body is left to the route's schema. */
export function acceptJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", async (request) => {
    const encoding = request.headers["content-encoding"];
    if (encoding === undefined || encoding === "identity") return;
    throw new TandemError(
      "unsupported_media_type",
      `Content-Encoding ${encoding} is not taken; send the body as it is.`,
    );
  });
  app.addContentTypeParser(
    /^application\/([\w.-]+\+)?json\b/,
    { parseAs: "string" },
    (_request, body, done) => {
      try {
        done(null, parseJson(String(body)));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  if (jsonTextDepth(text) > MAX_JSON_DEPTH)
    throw invalidJson(`it nests deeper than ${MAX_JSON_DEPTH} levels`);
  try {
    // Own keys named __proto__ are data like any other: JSON.parse makes them plain properties.
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : "it cannot be read", error);
  }
}

function invalidJson(why: string, cause?: unknown): TandemError {
  const msg = `the body is not valid JSON: ${why}`;
  return new TandemError("json_invalid", msg, {
    faults: [{ loc: ["body"], msg, type: "json_invalid" }],
    cause,
  });
}
