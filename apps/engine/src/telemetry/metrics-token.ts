import { createHash, timingSafeEqual } from "node:crypto";

/** Whether a request for metrics brings what it must: a bearer token, when one is set. */
export function mayScrape(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined) return true;
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1] ?? "";
  // Of the same length, and as long to compare wherever they differ.
  return timingSafeEqual(toDigest(given), toDigest(token));
}

function toDigest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
