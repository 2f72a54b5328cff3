// The built-in search for deferred tools. What it finds stands in its result, and from there the next request takes it.
import type { JsonObject, JsonValue } from "@tandem/engine/domain/json";
import { cutText } from "@tandem/engine/domain/tool-result-forms";
import type { ToolDefinition } from "@tandem/engine/domain/tools";
import MiniSearch from "minisearch";
import { MAX_FOUND_TOOLS, MAX_QUERY_CHARACTERS, MAX_QUERY_WORDS } from "../agent/limits.ts";

/** Answers a query with the result of a `search_tools` call. */
export type ToolSearch = (query: string) => JsonObject;

/** Most characters of a description that are searched, and tokens of it that are shown: the definition has all of it. */
const MAX_DESCRIPTION_CHARACTERS = 4_000;
const MAX_DESCRIPTION_TOKENS = 250;

/** Words that say nothing about a tool. */
const EMPTY_WORDS = new Set(
  "a an and can do for from i in is it of on or that the this to tool tools with".split(" "),
);

/**
 * Makes a search over the deferred tools of a session: by names, titles and descriptions, the best first. The index is
 * made with the first query, so that a step without a search has none.
 */
export function createToolSearch(tools: readonly ToolDefinition[]): ToolSearch {
  const deferred = tools.filter((tool) => tool.defer_loading);
  let index: MiniSearch | undefined;
  return (query) => {
    index ??= createIndex(deferred);
    const words = toQueryWords(query);
    const found = words.length === 0 ? [] : index.search(words.join(" ")).slice(0, MAX_FOUND_TOOLS);
    const hits = found.flatMap(({ id }) => deferred[id as number] ?? []);
    return hits.length > 0 ? { tools: hits.map(toHit) } : { tools: [], note: toNote(deferred.length) };
  };
}

function toHit({ name, description }: ToolDefinition): JsonValue {
  return { name, description: cutText(description, MAX_DESCRIPTION_TOKENS) };
}

function toNote(count: number): string {
  const are = count === 1 ? "There is 1 deferred tool" : `There are ${count} deferred tools`;
  return `No tool was found. ${are}; try other words for what you need.`;
}

function createIndex(tools: readonly ToolDefinition[]): MiniSearch {
  const index = new MiniSearch({
    fields: ["name", "title", "description"],
    tokenize: toWords,
    searchOptions: {
      boost: { name: 4, title: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 3 ? 0.2 : false),
      maxFuzzy: 2,
      tokenize: (text) => text.split(" "),
    },
  });
  index.addAll(
    tools.map(({ name, title, description }, id) => ({
      id,
      // Found by its parts, and by the whole written as one word.
      name: `${name} ${name.replace(/[_-]/g, "").toLowerCase()}`,
      title: title ?? "",
      description: description.slice(0, MAX_DESCRIPTION_CHARACTERS),
    })),
  );
  return index;
}

/** The words of a query, without those that say nothing, unless it has no others. */
function toQueryWords(query: string): string[] {
  const words = [...new Set(toWords(query.slice(0, MAX_QUERY_CHARACTERS)))];
  const telling = words.filter((word) => !EMPTY_WORDS.has(word));
  return (telling.length > 0 ? telling : words).slice(0, MAX_QUERY_WORDS);
}

/** Words in lower case, of names as `snake_case`, `kebab-case`, `camelCase` and `HTTPServer` too. */
function toWords(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}
