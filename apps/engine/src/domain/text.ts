/** Text for a `text` column of the database, which cannot hold NUL: it becomes the replacement character. */
export function toText(value: string): string {
  return value.replaceAll("\u0000", "\uFFFD");
}

/** Text that a `text` column of the database holds as it is: no NUL, no half of a surrogate pair. For the flag `u`. */
export const STORABLE_PATTERN = "^[^\\u0000\\p{Cs}]*$";

/** The same in words. */
export const STORABLE_HINT = "text without NUL and half surrogate pairs";
