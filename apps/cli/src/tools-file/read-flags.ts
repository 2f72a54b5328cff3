// Reading a command line by a tool's flags. Pure.
import { usageError } from "../exit-codes.ts";
import type { Flag } from "./schema-flags.ts";

/** What a command line says. */
export interface FlagValues {
  /** The arguments that flags gave, by property. */
  args: Record<string, unknown>;
  /** The text of `--json`. */
  json?: string;
  /** The path of `--json-file`. */
  jsonFile?: string;
  wantsHelp: boolean;
}

/**
 * Reads `--name value`, `--name=value`, also `--name` and `--no-name` of booleans, and repeats of lists. A property's own
 * name works as well as its kebab-case.
 *
 * @throws {CliError} for what is no flag, or has no value that its schema could take
 */
export function readFlags(words: readonly string[], flags: readonly Flag[]): FlagValues {
  const values: FlagValues = { args: {}, wantsHelp: false };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name, given] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (word === "-h" || name === "help") values.wantsHelp = true;
    else if (name === undefined)
      throw usageError(`${JSON.stringify(word)} is no flag; arguments of a tool are given as --name value.`);
    else if (name === "json") values.json = given ?? takeValue(rest, name);
    else if (name === "json-file") values.jsonFile = given ?? takeValue(rest, name);
    else {
      const { flag, value } = readFlag(name, { given, rest, flags });
      setArgument(values.args, flag, value);
    }
  }
  return values;
}

/** The flag that a word names, and its value; of a list, the items of this word. */
function readFlag(
  name: string,
  { given, rest, flags }: { given: string | undefined; rest: string[]; flags: readonly Flag[] },
): { flag: Flag; value: unknown } {
  const flag = findFlag(flags, name);
  if (!flag) {
    const off = name.startsWith("no-") ? findFlag(flags, name.slice(3)) : undefined;
    if (off && isSwitch(off) && given === undefined) return { flag: off, value: false };
    throw unknownFlag(name, flags);
  }
  if (isSwitch(flag) && given === undefined) {
    // No word stands alone, so that this can only be meant for the switch.
    const [next] = rest;
    return { flag, value: next === "true" || next === "false" ? rest.shift() === "true" : true };
  }
  const text = given ?? takeValue(rest, name);
  if (!flag.isList) return { flag, value: toValue(flag, text) };
  return { flag, value: readWholeList(flag, text) ?? [toValue(flag, text)] };
}

function isSwitch({ kind, isList }: Flag): boolean {
  return kind === "boolean" && !isList;
}

/** A repeated list grows; of anything else the last one counts. A property may be called `__proto__`. */
function setArgument(args: Record<string, unknown>, { property, isList }: Flag, given: unknown): void {
  const earlier = isList && Object.hasOwn(args, property) ? (args[property] as unknown[]) : [];
  const value = isList ? [...earlier, ...(given as unknown[])] : given;
  Object.defineProperty(args, property, { value, enumerable: true, configurable: true, writable: true });
}

function findFlag(flags: readonly Flag[], name: string): Flag | undefined {
  return flags.find((flag) => flag.name === name) ?? flags.find((flag) => flag.property === name);
}

function takeValue(rest: string[], name: string): string {
  const value = rest.shift();
  if (value === undefined) throw usageError(`--${name} needs a value.`);
  return value;
}

function unknownFlag(name: string, flags: readonly Flag[]): Error {
  const known = flags.map((flag) => `--${flag.name}`).join(", ");
  return usageError(`There is no flag --${name}.${known ? ` There are: ${known}.` : ""}`);
}

function toValue(flag: Flag, text: string): unknown {
  const choice = flag.choices.find(
    (value) => (typeof value === "string" ? value : JSON.stringify(value)) === text,
  );
  if (choice !== undefined) return choice;
  if (flag.isNullable && text === "null" && flag.kind !== "text") return null;
  if (flag.choices.length > 0) throw wrongValue(flag, text, `one of ${flag.choices.join(", ")}`);
  switch (flag.kind) {
    case "text":
      return text;
    case "boolean":
      if (text !== "true" && text !== "false") throw wrongValue(flag, text, "true or false");
      return text === "true";
    case "number":
    case "integer":
      return toNumber(flag, text);
    case "json":
      return readJson(text).value;
  }
}

function toNumber(flag: Flag, text: string): number {
  const value = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  const isRight = flag.kind === "integer" ? Number.isInteger(value) : Number.isFinite(value);
  if (!isRight) throw wrongValue(flag, text, flag.kind === "integer" ? "a whole number" : "a number");
  // Beyond, another number would reach the tool than the one that was typed.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && !/e/i.test(text))
    throw wrongValue(flag, text, `a number of at most ${Number.MAX_SAFE_INTEGER}`);
  return value;
}

function wrongValue(flag: Flag, text: string, right: string): Error {
  return usageError(`--${flag.name} is ${JSON.stringify(text)}: ${right} is right.`);
}

/** JSON where it is some, else the text itself: a value of several types may be a string. */
function readJson(text: string): { value: unknown } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: text };
  }
}

/** A list may be given at once, as JSON; that is how an empty one is. Where items are lists, `[1]` is one of them. */
function readWholeList({ holdsLists }: Flag, text: string): unknown[] | null {
  const { value } = text.startsWith("[") ? readJson(text) : { value: null };
  if (!Array.isArray(value)) return null;
  return holdsLists && !value.every((item) => Array.isArray(item)) ? null : value;
}
