/** Splits a message into the things it asks for: "Book a table and email bob" asks for two tools. */
import { FIT_THRESHOLD, nameScore, scoreTool, type ToolProfile } from "./choose-tool.ts";
import { toWordSet, toWords } from "./words.ts";

/** A stretch of the message and the tool that it speaks of. */
export interface ToolRequest {
  readonly profile: ToolProfile;
  readonly text: string;
  readonly score: number;
}

const CLAUSE_BREAK =
  /[.!?;]\s+|\n+|,?\s+(?:and\s+then|and\s+also|and|then|also)\s+(?:please\s+)?|,\s+(?=then|also)/gi;
const MAX_CLAUSES = 12;
/** The part of a full name match that a clause needs to open a request of its own. */
const CLEAR_NAME_SCORE = 1.9;

/** The requests in the order of the message; empty when no tool fits any of it. */
export function splitRequests(
  text: string,
  profiles: readonly ToolProfile[],
  shared: ReadonlyMap<string, number>,
): ToolRequest[] {
  const requests: ToolRequest[] = [];
  for (const clause of clausesOf(text)) {
    const best = bestTool(clause.text, profiles, shared);
    const last = requests.at(-1);
    const isClear =
      best !== undefined && nameScore(best.profile, toWordSet(toWords(clause.text))) >= CLEAR_NAME_SCORE;
    if (best !== undefined && (isClear || last === undefined)) {
      // What came before the first request belongs to it: "For order A-1, and please track it".
      requests.push(last === undefined ? { ...best, text: text.slice(0, clause.end) } : best);
    } else if (last !== undefined) {
      const start = text.lastIndexOf(last.text, clause.start);
      requests[requests.length - 1] = { ...last, text: text.slice(Math.max(0, start), clause.end) };
    }
  }
  return requests;
}

export function bestTool(
  text: string,
  profiles: readonly ToolProfile[],
  shared: ReadonlyMap<string, number>,
): ToolRequest | undefined {
  let best: ToolRequest | undefined;
  for (const profile of profiles) {
    const score = scoreTool(profile, text, shared);
    if (score >= FIT_THRESHOLD && score > (best?.score ?? 0)) best = { profile, text, score };
  }
  return best;
}

/** Clauses outside quotes; what follows a colon is content, not a further request. */
function clausesOf(text: string): Array<{ text: string; start: number; end: number }> {
  const quoted = text.replace(/"[^"]*"|“[^”]*”|`[^`]*`|(?<!\w)'[^'\n]*'(?!\w)/g, (quote) =>
    "x".repeat(quote.length),
  );
  const colon = quoted.search(/:\s/);
  const clauses: Array<{ text: string; start: number; end: number }> = [];
  let start = 0;
  for (const match of quoted.matchAll(CLAUSE_BREAK)) {
    if ((colon !== -1 && match.index > colon) || clauses.length >= MAX_CLAUSES) break;
    clauses.push({ text: text.slice(start, match.index + 1), start, end: match.index + 1 });
    start = match.index + match[0].length;
  }
  clauses.push({ text: text.slice(start), start, end: text.length });
  return clauses.filter((clause) => clause.text.trim() !== "");
}
