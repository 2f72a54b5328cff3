/**
 * True when an `Accept` header wants HTML more than JSON, as those of browsers do. Whoever takes both alike gets JSON.
 *
 * @example prefersHtml("text/html,application/xml;q=0.9,*\/*;q=0.8") // true
 */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? "*/*").toLowerCase().split(",").map(readRange);
  return qualityOf("text/html", ranges) > qualityOf("application/json", ranges);
}

interface Range {
  name: string;
  quality: number;
}

function readRange(text: string): Range {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim());
  const given = parameters.find((parameter) => parameter.startsWith("q="));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

/** The quality of the range that fits a type best: the type itself, its group, or everything. */
function qualityOf(type: string, ranges: Range[]): number {
  const group = `${type.split("/")[0]}/*`;
  const fitting = [type, group, "*/*"].flatMap((wanted) => ranges.find(({ name }) => name === wanted) ?? []);
  return fitting[0]?.quality ?? 0;
}
