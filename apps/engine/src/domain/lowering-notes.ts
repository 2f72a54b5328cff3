import { type SchemaPath, toPlace } from "./schema-walk.ts";

/** Most changes that are told of one schema. */
const MAX_NOTES = 50;

/** What was changed in a schema, in words, for its author. */
export interface LoweringNotes {
  add(path: SchemaPath, text: string): void;
  /** Each text once, in the order in which they came; of very many the first ones. */
  list(): string[];
}

/** Without notes yet. */
export function createLoweringNotes(): LoweringNotes {
  const texts = new Set<string>();
  let leftOut = 0;
  return {
    add(path, text) {
      if (texts.size < MAX_NOTES) texts.add(`${toPlace(path)}: ${text}`);
      else leftOut += 1;
    },
    list() {
      return leftOut > 0 ? [...texts, `and more changes of these kinds (${leftOut})`] : [...texts];
    },
  };
}
