import { invalidRequest } from "../domain/errors.ts";

/**
 * Refuses a page of a list that is more than one reply holds.
 *
 * @throws {TandemError} `invalid_request`
 */
export function refusePage(): never {
  const msg = "size is too large for items of this length: a page holds 100,000,000 bytes";
  throw invalidRequest(["query", "size"], msg, "page_too_large");
}
