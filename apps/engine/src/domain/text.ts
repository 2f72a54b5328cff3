/** Text for a `text` column of the database, which cannot hold NUL: it becomes the replacement character. */
export function toText(value: string): string {
  return value.replaceAll("\u0000", "\uFFFD");
}
