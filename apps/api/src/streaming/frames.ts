// Server-sent events as text. Their data is JSON, of one line each.
import { findStringEnd } from "@tandem/engine/domain/scan-json";

/** A comment: it keeps a connection busy, and no client hears of it. */
export const HEARTBEAT = ": \n\n";

/** An event of a session; its id is where a client goes on from. */
export function toEventFrame(index: number, json: string): string {
  return `id: ${index}\ndata: ${toLine(json)}\n\n`;
}

/** Anything else. It has no id, so that nobody goes on from it. */
export function toNamedFrame(name: string, json: string): string {
  return `event: ${name}\ndata: ${toLine(json)}\n\n`;
}

/** JSON has line ends only between its values, where a space says as much. */
function toLine(json: string): string {
  return json.replace(/[\r\n]+/g, " ");
}

/**
 * The items of a JSON list, each as its own text.
 *
 * @param list the inside of the list, comma-separated and valid
 * @example splitList('{"a":[1,2]},"b,c"'); // ['{"a":[1,2]}', '"b,c"']
 */
export function* splitList(list: string): Generator<string> {
  let depth = 0;
  let start = 0;
  for (let i = 0; i < list.length; i++) {
    const character = list[i];
    if (character === '"') i = findStringEnd(list, i);
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (character === "," && depth === 0) {
      yield list.slice(start, i);
      start = i + 1;
    }
  }
  if (start < list.length) yield list.slice(start);
}
