/** Fills a tool's arguments from a message; several sets when the message lists several things ("in Paris and Rome"). */
import type { Assignment, Reading } from "./assign-slots.ts";
import { type BuiltArguments, buildArguments, type Supplies, type Supply } from "./build-arguments.ts";
import { type Conforms, createConforms } from "./conforms.ts";
import { listedWith } from "./coordination.ts";
import type { JsonRecord } from "./json-schema.ts";
import { assignLeftovers } from "./leftovers.ts";
import { findMentions } from "./mentions.ts";
import { type Shape, type Slot, slotsOf, toShape } from "./slots.ts";
import { likeness, stem, toNameWords, toWordSet, toWords } from "./words.ts";

export interface FillableTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

export interface FillRequest {
  readonly tool: FillableTool;
  readonly text: string;
  /** Whether words that name nothing in particular may become an argument; needs a message that speaks of the tool. */
  readonly takesLeftovers: boolean;
  readonly first?: Supply;
  readonly last?: Supply;
}

export interface FillResult {
  /** Valid arguments, one set for each call to make; empty when something is missing. */
  readonly calls: readonly JsonRecord[];
  /** Required parameters without a value, as dotted paths. */
  readonly missing: readonly string[];
  /** How many values came from the message. */
  readonly found: number;
}

/** Calls made of one listing; "in Paris, Rome, ... and Berlin". */
const MAX_CALLS = 10;

export function fillArguments(request: FillRequest): FillResult {
  const { tool, text } = request;
  const context = `${toNameWords(tool.name).join(" ")} ${tool.description ?? ""}`.toLowerCase();
  const messageStems = toWordSet(toWords(text)).stems;
  const isMentioned = (value: string) => toNameWords(value).every((word) => messageStems.has(stem(word)));
  const shape = toShape(tool.inputSchema, context, isMentioned);
  const conforms = createConforms(tool.inputSchema);
  const reading = readMessage(tool, shape, text);
  const built = buildArguments(shape, reading, conforms, suppliesFor(request, reading, conforms));
  const missing = missingFrom(built, shape);
  if (missing.length > 0) return { calls: [], missing, found: built.assignment.size };
  const calls = variantsOf(built, reading, conforms).filter((args) => conforms(tool.inputSchema, args));
  return { calls, missing: [], found: built.assignment.size };
}

function readMessage(tool: FillableTool, shape: Shape, text: string): Reading {
  const toolWords = toWordSet(toNameWords(tool.name));
  const labels = new Set(slotsOf(shape).flatMap((slot) => slot.words.map(stem)));
  const isToolWord = (word: string) => likeness(toolWords, word) > 0 || labels.has(stem(word));
  return { text, mentions: findMentions(text, isToolWord) };
}

function suppliesFor(request: FillRequest, reading: Reading, conforms: Conforms): Supplies {
  const { name: toolName, description = "" } = request.tool;
  const amend = (assignment: Assignment, slots: readonly Slot[]) => {
    if (!request.takesLeftovers) return;
    assignLeftovers({ reading, slots, assignment, conforms, toolName, description });
  };
  return { first: request.first, last: request.last, amend };
}

/** An empty list stands in for a required one only beside values that the message did give. */
function missingFrom({ missing, assignment }: BuiltArguments, shape: Shape): string[] {
  const paths = missing.map((slot) => slot.path.join("."));
  if (paths.length > 0 || assignment.size > 0) return paths;
  const lists = slotsOf(shape).filter(
    (slot) => slot.required && slot.kind === "list" && slot.resolved.default === undefined,
  );
  return lists.map((slot) => slot.path.join("."));
}

/** The arguments, repeated for each further value that the message lists beside one of theirs. */
function variantsOf(built: BuiltArguments, reading: Reading, conforms: Conforms): JsonRecord[] {
  for (const [slot, assigned] of built.assignment) {
    const others = listedWith(reading, slot, assigned, [...built.assignment.values()], conforms);
    if (others.length === 0) continue;
    const variants = others.map((value) => withValue(built.args, slot, value));
    return [built.args, ...variants].slice(0, MAX_CALLS);
  }
  return [built.args];
}

function withValue(args: JsonRecord, slot: Slot, value: unknown): JsonRecord {
  const [name = "", ...rest] = slot.path;
  if (rest.length === 0) return { ...args, [name]: value };
  const inner = (args[name] ?? {}) as JsonRecord;
  return { ...args, [name]: withValue(inner, { ...slot, path: rest }, value) };
}
