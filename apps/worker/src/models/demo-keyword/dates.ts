/** Finds dates and times that a message states in full; relative days stay words, because the model has no clock. */
import type { Mention } from "./mentions.ts";

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?";

const ISO_DATE = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/g;
const DAY_FIRST = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th|\\.)?(?: of)? ${MONTH},? (\\d{4})\\b`, "gi");
const MONTH_FIRST = new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})\\b`, "gi");
const DOTTED = /(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/g;
const TIME =
  /(?<![\d:])(\d{1,2})(?::(\d{2}))(?::(\d{2}))?\s?(am|pm|a\.m\.|p\.m\.)?(?![\d:])(?:Z|[+-]\d{2}:\d{2})?|(?<![\d:.])(\d{1,2})\s?(am|pm)\b/gi;
const DAY_WORDS =
  /\b(?:(?:next|this|on)\s)?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b|\b(?:today|tomorrow|tonight|yesterday)\b|\b(?:next|this|last)\s(?:week|weekend|month|year|morning|afternoon|evening)\b/gi;
const YEARLESS = new RegExp(
  `\\b${MONTH} \\d{1,2}(?:st|nd|rd|th)?\\b|\\b\\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH}(?![a-z])`,
  "gi",
);

/** Dates, times and date-times of the text outside the spans that are taken. */
export function dateMentions(text: string, taken: readonly Mention[]): Mention[] {
  const dates = [
    ...matches(text, ISO_DATE, "date", ([, year, month, day]) => toIsoDate(year, month, day)),
    ...matches(text, DAY_FIRST, "date", ([, day, month, year]) => toIsoDate(year, monthNumber(month), day)),
    ...matches(text, MONTH_FIRST, "date", ([, month, day, year]) => toIsoDate(year, monthNumber(month), day)),
    ...matches(text, DOTTED, "date", ([, day, month, year]) => toIsoDate(year, month, day)),
  ].filter((mention) => isFree(mention, taken));
  const times = matches(text, TIME, "time", toTime).filter((mention) =>
    isFree(mention, [...taken, ...dates]),
  );
  const days = [
    ...matches(text, DAY_WORDS, "day", ([word]) => word?.replace(/^on /i, "")),
    ...yearless(text),
  ];
  const free = days.filter((mention) => isFree(mention, [...taken, ...dates, ...times]));
  return [...dates, ...times, ...free, ...joined(text, dates, times)];
}

/** A date with the time that follows it is one date-time as well; a time without a zone is taken as UTC. */
function joined(text: string, dates: readonly Mention[], times: readonly Mention[]): Mention[] {
  return dates.flatMap((date): Mention[] => {
    const time = times.find((other) => {
      const between = text.slice(date.end, other.start);
      return other.start >= date.end && /^(?:T|,? ?at |,? )$/i.test(between);
    });
    const clock = time?.values.find((value) => /^\d{2}:\d{2}:\d{2}/.test(String(value)));
    if (time === undefined || clock === undefined) return [];
    const zone = /(?:Z|[+-]\d{2}:\d{2})$/.exec(text.slice(time.start, time.end))?.[0] ?? "Z";
    const local = `${date.values[0]}T${String(clock).slice(0, 8)}`;
    return [{ kind: "datetime", start: date.start, end: time.end, values: [`${local}${zone}`, local] }];
  });
}

function yearless(text: string): Mention[] {
  return matches(text, YEARLESS, "day", ([words]) => words);
}

type ToValue = (groups: readonly (string | undefined)[]) => string | undefined | string[];

function matches(text: string, pattern: RegExp, kind: Mention["kind"], toValue: ToValue): Mention[] {
  return [...text.matchAll(pattern)].flatMap((match): Mention[] => {
    const value = toValue(match);
    if (value === undefined) return [];
    const values = [...(Array.isArray(value) ? value : [value]), match[0]];
    return [{ kind, start: match.index, end: match.index + match[0].length, values }];
  });
}

function isFree(mention: Mention, taken: readonly Mention[]): boolean {
  return !taken.some((other) => mention.start < other.end && other.start < mention.end);
}

function monthNumber(name: string | undefined): string {
  return String(MONTHS.indexOf((name ?? "").toLowerCase()) + 1);
}

function toIsoDate(year = "", month = "", day = ""): string | undefined {
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31) return undefined;
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

function toTime(groups: readonly (string | undefined)[]): string[] | undefined {
  const half = (groups[4] ?? groups[6] ?? "").toLowerCase().replaceAll(".", "");
  const minutes = groups[2] ?? "00";
  let hours = Number(groups[1] ?? groups[5]);
  if (hours > (half === "" ? 23 : 12) || Number(minutes) > 59) return undefined;
  if (half === "pm" && hours < 12) hours += 12;
  if (half === "am" && hours === 12) hours = 0;
  const clock = `${String(hours).padStart(2, "0")}:${minutes}`;
  return [clock, `${clock}:${groups[3] ?? "00"}`, `${clock}:${groups[3] ?? "00"}Z`];
}
