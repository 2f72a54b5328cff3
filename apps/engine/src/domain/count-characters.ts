/** The characters of a value, counted no further than a little over `most`: texts can be large. */
export function countCharacters(value: unknown, most: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let count = 0;
  for (const [key, part] of Object.entries(value)) {
    count += key.length + countCharacters(part, most - count);
    if (count > most) break;
  }
  return count;
}
