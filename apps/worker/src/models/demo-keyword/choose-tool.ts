/** Scores how well a tool's name, description and parameters fit a message. */
import type { FillableTool } from "./fill-arguments.ts";
import { allowedValues, branchesOf, isRecord, propertiesOf, requiredOf, wordingOf } from "./json-schema.ts";
import { isStopWord, likeness, stem, toNameWords, toWordSet, toWords, type WordSet } from "./words.ts";

/** A tool with the words that describe it, prepared once for all messages. */
export interface ToolProfile {
  readonly tool: FillableTool;
  readonly nameWords: readonly string[];
  readonly descriptionWords: readonly string[];
  readonly parameterWords: readonly string[];
  readonly choices: readonly string[];
  readonly requiredCount: number;
  /** Patterns of values that its parameters take: an e-mail, a link, an id. */
  readonly forms: readonly RegExp[];
}

/** A tool below this score does not fit the message. */
export const FIT_THRESHOLD = 2;

const NAME_WEIGHT = 4;
const MAX_DESCRIPTION_SCORE = 2.4;
const MAX_PARAMETER_SCORE = 3;

/** Verbs that say nothing about which tool is meant. */
const PLAIN_VERBS = new Set(
  "get fetch retrieve read lookup look do run make check show give tell view find list search query calculate my current".split(
    " ",
  ),
);

/** Verbs that do something: a tool named by one is meant only when the message says so. */
const ACTIONS = new Set(
  (
    "book cancel close convert create delete edit email escalate insert invite open order pay post publish remove " +
    "rename reserve restart schedule send start stop subscribe translate transfer update upload write"
  ).split(" "),
);

const FORMS: ReadonlyArray<[RegExp, RegExp]> = [
  [/e-?mail|recipient/i, /[\w.+-]{1,64}@[\w-]{1,63}\.\w/],
  [/\b(?:ur[il]|link|website)/i, /https?:\/\//i],
  [
    /(?:^|[_\s])(?:id|number|code|ref|sku|key|symbol)\b|Id$/,
    /(?<![\w.-])(?:#\w|[A-Za-z]{1,12}[-_]?\d)|\b\d{4,}\b/,
  ],
  [
    /date/i,
    /\b\d{4}-\d{2}-\d{2}\b|\b(?:today|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/i,
  ],
  [/time/i, /\b\d{1,2}:\d{2}\b|\b\d{1,2}\s?[ap]m\b/i],
  [/path|file/i, /\/\w|\.\w{2,4}\b/],
];

export function profileTool(tool: FillableTool): ToolProfile {
  const parameters = branchesOf(tool.inputSchema, tool.inputSchema)
    .flatMap((branch) => propertiesOf(branch))
    .slice(0, 50);
  const choices = parameters.flatMap(([, schema]) => (isRecord(schema) ? (allowedValues(schema) ?? []) : []));
  const described = parameters.map(
    ([name, schema]) => `${name} ${isRecord(schema) ? wordingOf(schema) : ""}`,
  );
  const parameterWords = parameters.flatMap(([name]) => toNameWords(name)).filter((word) => word.length > 2);
  return {
    tool,
    nameWords: toNameWords(tool.name).slice(0, 12),
    descriptionWords: unique(toWords((tool.description ?? "").slice(0, 1_000))).slice(0, 60),
    parameterWords: unique(parameterWords).slice(0, 60),
    choices: choices
      .filter((choice) => typeof choice === "string" && choice.length > 2)
      .slice(0, 60) as string[],
    requiredCount: requiredOf(branchesOf(tool.inputSchema, tool.inputSchema)[0] ?? {}).size,
    forms: FORMS.filter(([parameter]) => described.some((text) => parameter.test(text))).map(
      ([, form]) => form,
    ),
  };
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)].filter((word) => !isStopWord(word));
}

/** In how many of the tools each word occurs; a word that all share tells little. */
export function countShared(profiles: readonly ToolProfile[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const profile of profiles) {
    const words = new Set([...profile.nameWords, ...profile.descriptionWords].map(stem));
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** How well the tool fits the message, 0 for not at all; an exact match of the name is about 4. */
export function scoreTool(profile: ToolProfile, text: string, shared: ReadonlyMap<string, number>): number {
  const message = toWordSet(toWords(text));
  const name = nameScore(profile, message);
  const parameters = parameterScore(profile, message, text);
  const description = descriptionScore(profile, message, shared);
  const isActionUnsaid = profile.nameWords.some((word) => ACTIONS.has(word) && likeness(message, word) === 0);
  const mentionsName =
    toWords(text).join(" ").includes(profile.nameWords.join(" ")) && profile.nameWords.length > 1;
  const total = name + parameters + description - (isActionUnsaid ? 2 : 0) + (mentionsName ? 3 : 0);
  // Values alone do not choose a tool: something must speak of what it does.
  return name + description === 0 ? Math.min(total, FIT_THRESHOLD - 1) : Math.max(0, total);
}

/** The part of the score that comes from the name, 0 to 4. */
export function nameScore(profile: ToolProfile, message: WordSet): number {
  let total = 0;
  let matched = 0;
  for (const word of profile.nameWords) {
    if (isStopWord(word)) continue;
    const isOnlyWord = profile.nameWords.length === 1;
    const weight = PLAIN_VERBS.has(word) && !isOnlyWord ? 0.35 : 1;
    total += weight;
    matched += weight * likeness(message, word);
  }
  return total === 0 ? 0 : (NAME_WEIGHT * matched) / total;
}

function parameterScore(
  { parameterWords, choices, forms }: ToolProfile,
  message: WordSet,
  text: string,
): number {
  const named = parameterWords.reduce((sum, word) => sum + 0.6 * likeness(message, word), 0);
  const chosen = choices.filter((choice) =>
    toNameWords(choice).every((word) => message.stems.has(stem(word))),
  ).length;
  const formed = forms.filter((form) => form.test(text)).length;
  return Math.min(MAX_PARAMETER_SCORE, named + chosen + 1.2 * formed);
}

function descriptionScore(
  profile: ToolProfile,
  message: WordSet,
  shared: ReadonlyMap<string, number>,
): number {
  let score = 0;
  for (const word of profile.descriptionWords) {
    if (PLAIN_VERBS.has(word)) continue;
    score += (0.8 * likeness(message, word)) / Math.sqrt(shared.get(stem(word)) ?? 1);
  }
  return Math.min(MAX_DESCRIPTION_SCORE, score);
}
