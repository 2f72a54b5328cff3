// Metrics as Prometheus reads them: the text, taken apart.

/** The series of a scrape by their names, as `name{label="value",…}` with labels in the order of the alphabet. */
export type Series = Map<string, number>;

/** Scrapes and reads. */
export async function scrape(baseUrl: string): Promise<Series> {
  const response = await fetch(`${baseUrl}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}: ${text}`);
  return readSeries(text);
}

/**
 * Reads the text form.
 *
 * @throws on a line that has not its form, a series that comes twice, and one whose name has no help and no type
 */
export function readSeries(text: string): Series {
  const series: Series = new Map();
  const described = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the text does not end with a line");
  for (const line of text.split("\n").filter((candidate) => candidate !== "")) {
    const [, word, about = ""] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) \S/.exec(line) ?? [];
    if (word !== undefined) {
      described.add(`${word} ${about}`);
      continue;
    }
    const [, name = "", labels = "", value = ""] =
      /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+|NaN|[+-]Inf)$/.exec(line) ?? [];
    if (name === "") throw new Error(`no line of metrics: ${line}`);
    const family = [name, name.replace(/_(?:bucket|sum|count)$/, "")];
    if (!family.some((known) => described.has(`HELP ${known}`) && described.has(`TYPE ${known}`))) {
      throw new Error(`${name} is not described`);
    }
    const key = labels === "" ? name : `${name}{${sortLabels(labels)}}`;
    if (series.has(key)) throw new Error(`${key} comes twice`);
    series.set(key, Number(value));
  }
  return series;
}

function sortLabels(labels: string): string {
  const pairs = labels.match(/[a-zA-Z_]\w*="(?:[^"\\]|\\.)*"/g) ?? [];
  if (pairs.join(",") !== labels) throw new Error(`no labels: ${labels}`);
  return pairs.sort().join(",");
}

/** The series of one metric: what its labels say, and the value. */
export function seriesOf(series: Series, name: string): Record<string, number> {
  const found = [...series].filter(([key]) => key === name || key.startsWith(`${name}{`));
  return Object.fromEntries(found.map(([key, value]) => [key.slice(name.length), value]));
}
