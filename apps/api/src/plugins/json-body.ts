// Reading request bodies: JSON only, bounded in size and depth, every key and every digit kept as sent.
import { TandemError } from "@tandem/engine/domain/errors";
import { JSON_BOUNDS, JsonFault, parseJson } from "@tandem/engine/domain/json";
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
        done(null, readJson(String(body)));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function readJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseJson(text, JSON_BOUNDS);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const msg = `the body cannot be taken: ${error.message}`;
    throw new TandemError("json_invalid", msg, {
      faults: [{ loc: ["body", ...error.path], msg, type: "json_invalid" }],
      cause: error,
    });
  }
}
