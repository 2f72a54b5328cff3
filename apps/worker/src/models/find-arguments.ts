// Where the arguments of a reply's calls stand in its text. One pass without recursion, so that no nesting is too deep.
import { findStringEnd } from "@tandem/engine/domain/scan-json";

/** A part of a text: from `start` to before `end`. */
export interface Span {
  start: number;
  end: number;
}

/** An object or array that is open where the scan stands. */
interface Frame {
  isObject: boolean;
  /** The value of a `functionCall`: Google's shape of a call. */
  isFunctionCall: boolean;
  /** The key whose value the scan is in; null before a key, and in arrays. */
  key: string | null;
  type: string | null;
  arguments: Span | null;
}

/**
 * The objects and arrays that are `input` of an Anthropic `tool_use`, or `args` of a Google `functionCall`, in the
 * order of the text. What is in them is not looked at.
 *
 * @param text a JSON reply
 * @throws {SyntaxError} when a key is no JSON; other faults of the text pass unseen
 * @example findArguments('{"type":"tool_use","input":{"a":1}}'); // [{ start: 27, end: 34 }]
 */
export function findArguments(text: string): Span[] {
  const found: Span[] = [];
  const frames: Frame[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    const frame = frames.at(-1);
    if (character === '"') i = readString(text, i, frame);
    else if (character === "," && frame) frame.key = null;
    else if (character === "{" || character === "[") {
      if (frame && isAtArguments(frame)) {
        frame.arguments = { start: i, end: findContainerEnd(text, i) };
        i = frame.arguments.end - 1;
      } else frames.push(openFrame(character, frame));
    } else if (character === "}" || character === "]") {
      const closed = frames.pop();
      if (closed?.arguments && isCall(closed)) found.push(closed.arguments);
    }
  }
  // An outer call may close after an inner one that stands behind its arguments.
  return found.sort((a, b) => a.start - b.start);
}

function openFrame(character: string, parent: Frame | undefined): Frame {
  return {
    isObject: character === "{",
    isFunctionCall: character === "{" && parent?.key === "functionCall",
    key: null,
    type: null,
    arguments: null,
  };
}

/** Also true of an `input` of something else, as its `type` may follow: no call is in there. */
function isAtArguments(frame: Frame): boolean {
  return frame.key === (frame.isFunctionCall ? "args" : "input");
}

function isCall(frame: Frame): boolean {
  return frame.isFunctionCall || frame.type === "tool_use";
}

/** Takes a string as the open object's key or type. Returns the index of its last quote. */
function readString(text: string, start: number, frame: Frame | undefined): number {
  const end = findStringEnd(text, start);
  if (!frame?.isObject) return end;
  if (frame.key === null) frame.key = JSON.parse(text.slice(start, end + 1)) as string;
  else if (frame.key === "type") frame.type = JSON.parse(text.slice(start, end + 1)) as string;
  return end;
}

/** The index after the bracket that closes the one at `start`; the text's length when none does. */
function findContainerEnd(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = findStringEnd(text, i);
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return i + 1;
  }
  return text.length;
}
