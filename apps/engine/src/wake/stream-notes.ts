// What is told while somebody watches a session: who watches, and the text of the model request that runs. Nothing of it
// is stored, and any of it may be lost, come late, or come twice.

/** A piece of the text that a model has said so far. */
export interface TextNote {
  kind: "text";
  sessionId: string;
  /** The number of the step, from 1. */
  step: number;
  /** The fencing token of the step's claim. Each claim makes one request, and a later claim has a greater token. */
  fence: number;
  /** How many UTF-16 units of the request's text come before. */
  offset: number;
  text: string;
}

/** Somebody watches a session, and has this much of the text of the request that it knows of. */
export interface WatchNote {
  kind: "watch";
  sessionId: string;
  /** The claim whose request it knows; 0 for none. */
  fence: number;
  length: number;
}

/**
 * Most UTF-16 units of text in one note. Each takes six bytes at most, as an escape, so that a note stays well below the
 * 8,000 bytes of a Postgres notification.
 */
const MAX_UNITS = 1_200;

/** Commas part the notes of a message; JSON has another way to write one. */
const COMMA = /,/g;
const ESCAPED_COMMA = "\\u002c";

/** A text as notes, in order; it is cut between code points. No text is a note too: it says that a request begins. */
export function toTextNotes({ sessionId, step, fence, offset, text }: Omit<TextNote, "kind">): string[] {
  const notes: string[] = [];
  let start = 0;
  do {
    const end = toCut(text, start + MAX_UNITS);
    const json = JSON.stringify(text.slice(start, end)).replace(COMMA, ESCAPED_COMMA);
    notes.push(["text", sessionId, step, fence, offset + start, json].join("."));
    start = end;
  } while (start < text.length);
  return notes;
}

/** Where a text can be cut at `index` or just before, so that no pair of surrogates is parted. */
export function toCut(text: string, index: number): number {
  if (index >= text.length) return text.length;
  const isWithinPair = isHighSurrogate(text, index - 1) && (text.codePointAt(index - 1) ?? 0) > 0xffff;
  return isWithinPair ? index - 1 : index;
}

/** True when the unit at `index` is the first half of a pair, whether or not the second is there. */
export function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** A watch as a note. */
export function toWatchNote({ sessionId, fence, length }: Omit<WatchNote, "kind">): string {
  return ["watch", sessionId, fence, length].join(".");
}

const TEXT = /^text\.([^.]*)\.(\d+)\.(\d+)\.(\d+)\.(".*")$/s;
const WATCH = /^watch\.([^.]*)\.(\d+)\.(\d+)$/;

/** Reads a note; null when it is of another kind. */
export function readStreamNote(note: string): TextNote | WatchNote | null {
  const [, watched, known, length] = WATCH.exec(note) ?? [];
  if (watched !== undefined) {
    return { kind: "watch", sessionId: watched, fence: Number(known), length: Number(length) };
  }
  const [, sessionId, step, fence, offset, json] = TEXT.exec(note) ?? [];
  if (sessionId === undefined || json === undefined) return null;
  const text = JSON.parse(json) as string;
  return { kind: "text", sessionId, step: Number(step), fence: Number(fence), offset: Number(offset), text };
}
