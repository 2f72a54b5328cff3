/** Fills a schema whatever it takes: from results, then from the message, then with values made up to fit. */
import type { Supply } from "./build-arguments.ts";
import { composeAnswer } from "./compose-answer.ts";
import { type Conforms, createConforms } from "./conforms.ts";
import type { ToolOutcome } from "./conversation.ts";
import { createFacts, recordsOf } from "./facts.ts";
import { type FillableTool, fillArguments } from "./fill-arguments.ts";
import { isRecord, type JsonRecord } from "./json-schema.ts";
import { placeholderFor } from "./placeholder.ts";
import { type Slot, slotsOf } from "./slots.ts";
import { stem, toNameWords } from "./words.ts";

export interface StructuredRequest {
  readonly tool: FillableTool;
  readonly message: string;
  readonly outcomes: readonly ToolOutcome[];
  /** The answer in words, for a schema that has a place for it. */
  readonly answer?: string;
}

/** Names of properties that hold an answer in words. */
const ANSWER_NAME =
  /^(?:answer|summary|text|message|result|results|response|reply|explanation|conclusion|output|content|description|reason|details)$/;
const MAX_ROWS = 50;

/** Arguments that fit the tool's schema, or undefined when none were found. */
export function fillAnyhow(request: StructuredRequest): JsonRecord | undefined {
  const { tool, outcomes, answer } = request;
  const facts = createFacts(outcomes, "similar");
  const first: Supply = (slot, conforms) => {
    const found = listFor(slot, outcomes, conforms) ?? facts(slot, conforms);
    return found ?? (isAnswer(slot) ? answer : undefined);
  };
  const last: Supply = (slot, conforms) => {
    const isPlainText = slot.kind === "text" || slot.kind === "title" || slot.kind === "body";
    if (isPlainText && answer !== undefined && conforms(slot.schema, answer)) return answer;
    return placeholderFor(slot.schema, tool.inputSchema, conforms);
  };
  const text = outcomes.length > 0 ? `${composeAnswer(outcomes)}\n${request.message}` : request.message;
  const takesLeftovers = outcomes.length === 0;
  const [args] = fillArguments({ tool, text, takesLeftovers, first, last }).calls;
  if (args !== undefined) return args;
  const madeUp = placeholderFor(tool.inputSchema, tool.inputSchema, createConforms(tool.inputSchema));
  return isRecord(madeUp) ? madeUp : undefined;
}

function isAnswer(slot: Slot): boolean {
  return slot.kind !== "choice" && ANSWER_NAME.test(lastWords(slot).at(-1) ?? "");
}

function lastWords(slot: Slot): string[] {
  return toNameWords(slot.path.at(-1) ?? "");
}

/** A list in the answer is a list that a tool returned, or has one entry for each record in the results. */
function listFor(slot: Slot, outcomes: readonly ToolOutcome[], conforms: Conforms): unknown {
  if (slot.kind !== "list") return undefined;
  const returned = outcomes.find(
    (outcome) => Array.isArray(outcome.value) && conforms(slot.schema, outcome.value),
  );
  if (returned !== undefined) return returned.value;
  const rows = recordsOf(outcomes)
    .slice(0, MAX_ROWS)
    .map((record) => entryOf(slot, { toolName: "", args: {}, isError: false, value: record }, conforms))
    .filter((row) => row !== undefined);
  return rows.length > 0 && conforms(slot.schema, rows) ? rows : undefined;
}

function entryOf(slot: Slot, outcome: ToolOutcome, conforms: Conforms): unknown {
  const facts = createFacts([outcome], "similar");
  if (slot.itemShape !== undefined) {
    const members = slotsOf(slot.itemShape).map((member) => [
      member.path.at(-1) ?? "",
      facts(member, conforms),
    ]);
    const known = members.filter(([, value]) => value !== undefined);
    return known.length > 0 ? Object.fromEntries(known) : undefined;
  }
  if (slot.itemSlot === undefined) return undefined;
  return facts({ ...slot.itemSlot, path: [lastWords(slot).map(stem).join("_")] }, conforms);
}
