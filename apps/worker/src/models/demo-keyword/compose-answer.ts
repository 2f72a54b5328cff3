/** Puts what tools returned into words. */
import type { ToolOutcome } from "./conversation.ts";
import { isRecord } from "./json-schema.ts";
import { toNameWords } from "./words.ts";

const MAX_ANSWER_CHARS = 4_000;
const MAX_LIST_ITEMS = 20;
const MAX_DEPTH = 3;

/** One sentence for one plain result, else a list; never empty. */
export function composeAnswer(outcomes: readonly ToolOutcome[]): string {
  const [only] = outcomes;
  const text =
    outcomes.length === 1 && only !== undefined
      ? describeAlone(only)
      : outcomes.map((outcome) => `- ${describeInList(outcome, outcomes)}`).join("\n");
  return text.length > MAX_ANSWER_CHARS
    ? `${text.slice(0, MAX_ANSWER_CHARS).replace(/\p{Cs}/gu, "")} …`
    : text;
}

function describeAlone({ toolName, args, isError, value }: ToolOutcome): string {
  if (isError) return describeFailure(toolName, value);
  if (typeof value === "string" && value.trim() !== "") return value;
  if (isBlank(value)) return `Done: ${toolName} ran without returning anything.`;
  if (value === true) return `Done: ${toolName} succeeded.`;
  if (value === false) return `${toolName} answered no.`;
  if (typeof value === "number") return `The result is ${value}.`;
  if (Array.isArray(value))
    return value.length === 0
      ? `${toolName} found nothing.`
      : `Here is what ${toolName} found:\n${toList(value)}`;
  const entries = Object.entries(value as object);
  const [first] = entries;
  if (entries.length === 1 && first !== undefined && isScalar(first[1]))
    return `The ${toLabel(first[0])} is ${toText(first[1])}.`;
  const subject = subjectOf(args);
  return `Here is what I found${subject === "" ? "" : ` for ${subject}`}:\n${toList(value)}`;
}

function describeInList(outcome: ToolOutcome, all: readonly ToolOutcome[]): string {
  const { toolName, args, isError, value } = outcome;
  const others = all.filter((other) => other !== outcome);
  const isOneTool = others.every((other) => other.toolName === toolName);
  const name = isOneTool ? subjectOf(args) || toolName : toolName;
  if (isError)
    return describeFailure(isOneTool && name !== toolName ? `${toolName} for ${name}` : toolName, value);
  if (isBlank(value) || value === true) return `${name}: done`;
  const text = toText(value);
  return text.toLowerCase().includes(name.toLowerCase()) ? text : `${name}: ${text}`;
}

function describeFailure(toolName: string, value: unknown): string {
  const isWrapped = isRecord(value) && typeof value.error === "string";
  const reason = isWrapped
    ? String(value.error)
    : isRecord(value) && typeof value.message === "string"
      ? value.message
      : toText(value);
  return `${toolName} failed: ${reason || "no reason given"}`;
}

/** What a call was about: its short arguments. */
function subjectOf(args: Record<string, unknown>): string {
  const values = Object.values(args).filter(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return values
    .map(String)
    .filter((text) => text.length <= 60 && !text.includes("\n"))
    .slice(0, 3)
    .join(", ");
}

function toList(value: unknown): string {
  const lines = Array.isArray(value)
    ? value.map((item) => toText(item))
    : Object.entries(value as object).map(([key, inner]) => `${toLabel(key)}: ${toText(inner)}`);
  const shown = lines.slice(0, MAX_LIST_ITEMS).map((line) => `- ${line}`);
  if (lines.length > MAX_LIST_ITEMS) shown.push(`- and ${lines.length - MAX_LIST_ITEMS} more`);
  return shown.join("\n");
}

/** Any JSON as one line of readable text. */
export function toText(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return String(value);
  if (depth >= MAX_DEPTH) return Array.isArray(value) ? `${value.length} items` : "…";
  if (Array.isArray(value))
    return (
      value
        .slice(0, MAX_LIST_ITEMS)
        .map((item) => toText(item, depth + 1))
        .join(", ") || "none"
    );
  const entries = Object.entries(value).slice(0, MAX_LIST_ITEMS);
  return entries.map(([key, inner]) => `${toLabel(key)}: ${wrap(inner, depth)}`).join(", ") || "nothing";
}

function wrap(value: unknown, depth: number): string {
  return isScalar(value) ? toText(value) : `(${toText(value, depth + 1)})`;
}

function toLabel(key: string): string {
  return toNameWords(key).join(" ") || key;
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function isBlank(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "string" ? value.trim() === "" : isRecord(value) && Object.keys(value).length === 0;
}
