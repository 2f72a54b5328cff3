/** Guesses what a parameter means from its type, format, name and description. */
import type { JsonRecord } from "./json-schema.ts";

export type SlotKind =
  | "choice"
  | "flag"
  | "number"
  | "list"
  | "record"
  | "email"
  | "url"
  | "uuid"
  | "datetime"
  | "date"
  | "time"
  | "phone"
  | "currency"
  | "unit"
  | "id"
  | "place"
  | "person"
  | "recipient"
  | "path"
  | "title"
  | "body"
  | "query"
  | "text";

const BY_FORMAT: Readonly<Record<string, SlotKind>> = {
  ...{ email: "email", "idn-email": "email", uri: "url", url: "url", "uri-reference": "url", iri: "url" },
  ...{ uuid: "uuid", date: "date", "date-time": "datetime", time: "time" },
};

/** The first line that fits a parameter's name decides. */
const BY_NAME: ReadonlyArray<[SlotKind, RegExp]> = [
  ["email", /\be ?mails?\b/],
  ["url", /\b(?:url|uri|link|website|webpage|href|endpoint|domain)s?\b/],
  ["datetime", /\b(?:datetime|timestamp|starts? at|ends? at|due at|when)\b/],
  ["date", /\b(?:date|day|birthday|deadline|due)\b/],
  ["time", /\btime\b/],
  ["phone", /\b(?:phone|mobile|tel|telephone)\b/],
  ["currency", /\b(?:currency|currencies)\b/],
  ["unit", /\bunits?\b/],
  [
    "id",
    /\b(?:ids?|uuid|code|number|no|sku|key|ref|reference|identifier|zip|postcode|postal|isbn|symbol|ticker)\b/,
  ],
  ["recipient", /\b(?:to|recipients?|cc|bcc|addressee)\b/],
  ["place", /\b(?:city|cities|location|place|country|town|address|region|state|street|area|venue)s?\b/],
  ["place", /\b(?:destination|origin|airport|departure|arrival)\b/],
  ["path", /\b(?:path|file|filename|dir|directory|folder|repo|repository)s?\b/],
  [
    "person",
    /\b(?:person|user|username|customer|assignee|owner|author|guest|contact|employee|artist|actor|singer|director|name)\b/,
  ],
  ["title", /\b(?:title|subject|topic|headline|heading|task|item|todo)\b/],
  ["query", /\b(?:query|q|search|question|terms?|keywords?|prompt|expression|sql)\b/],
  ["body", /\b(?:body|message|text|content|description|notes?|comment|details|reason|summary)\b/],
];

/** For names that say little ("from", "value"): what the description, or else the tool, speaks of. */
const BY_WORDING: ReadonlyArray<[SlotKind, RegExp]> = [
  ["email", /\be-?mail/],
  ["currency", /\bcurrenc|iso 4217/],
  ["unit", /\bunits?\b/],
  ["url", /\b(?:url|link|website)\b/],
  ["datetime", /\bdate and time\b|\biso 8601\b/],
  ["date", /\bdate\b|yyyy-mm-dd/],
  ["time", /\btime\b|hh:mm/],
  ["id", /\b(?:id|identifier|code)\b/],
  ["place", /\b(?:city|place|location|country|airport)\b/],
  ["path", /\b(?:path|file)\b/],
];

/** What a tool with bare `from` and `to` deals with. */
const BY_TOOL: ReadonlyArray<[SlotKind, RegExp]> = [
  ["currency", /\bcurrenc|\bmoney\b|\bexchange\b/],
  ["unit", /\bunits?\b|\bconvert/],
  ["place", /\b(?:flight|train|trip|travel|route|distance|direction|ride|bus)/],
];

export interface SlotFacts {
  readonly name: readonly string[];
  readonly words: readonly string[];
  readonly types: ReadonlySet<string>;
  readonly resolved: JsonRecord;
  readonly hasChoices: boolean;
  /** The tool's name and description, in lower case. */
  readonly context: string;
}

export function slotKind({ name, types, resolved, hasChoices, context }: SlotFacts): SlotKind {
  if (hasChoices) return "choice";
  if (!types.has("string")) {
    if (types.has("array")) return "list";
    if (types.has("number") || types.has("integer")) return "number";
    if (types.has("boolean")) return "flag";
    if (types.has("object")) return "record";
  }
  const format = typeof resolved.format === "string" ? resolved.format : "";
  if (Object.hasOwn(BY_FORMAT, format)) return BY_FORMAT[format] ?? "text";
  return namedKind(name.join(" "), String(resolved.description ?? "").toLowerCase(), context);
}

function namedKind(name: string, wording: string, context: string): SlotKind {
  const byName = firstMatch(BY_NAME, name);
  const isVague =
    byName === undefined || byName === "recipient" || /^(?:destination|origin|source|target)$/.test(name);
  if (!isVague) return byName;
  const byWording = firstMatch(BY_WORDING, wording);
  if (byWording !== undefined) return byWording;
  if (/^(?:from|to|source|target|base)$/.test(name)) return firstMatch(BY_TOOL, context) ?? byName ?? "text";
  return byName ?? "text";
}

function firstMatch(table: ReadonlyArray<[SlotKind, RegExp]>, text: string): SlotKind | undefined {
  return table.find(([, pattern]) => pattern.test(text))?.[0];
}
