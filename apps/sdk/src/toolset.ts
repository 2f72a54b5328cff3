// Collections of tools.
import { TandemError } from "./errors.ts";
import type { SchemaInput, SchemaOutput } from "./schemas/tool-schema.ts";
import { type Tool, type ToolContext, type ToolOptions, type ToolSettings, tool, withName } from "./tool.ts";
import type { ToolReturn } from "./tool-result.ts";

/** Tools that are handed on together. Made by {@link toolset}, and by what makes a toolset of others. */
export interface Toolset<Name extends string = string> {
  readonly tools: readonly (Tool & { readonly name: Name })[];
  /** Where a tool comes from, for the message about two of the same name. */
  readonly origins: Readonly<Record<string, string>>;
}

/** A function of a collection: what {@link tool} takes, with `execute` in place of `fn`, and without a name. */
export interface ToolsetFunction<Schema> extends Omit<ToolSettings<SchemaOutput<Schema>>, "name"> {
  /** The schema of the arguments; its top level is an object. */
  readonly inputSchema: Schema;
  /** As in {@link ToolOptions}. */
  readonly toJsonSchema?: ToolOptions<Schema>["toJsonSchema"];
  /** Arguments of good calls, told to the model. */
  readonly examples?: readonly SchemaInput<Schema>[] | undefined;
  /** Runs a call, as `fn` of {@link tool} does. */
  execute(args: SchemaOutput<Schema>, context: ToolContext): ToolReturn;
}

/** The names of the tools of a record of collections: `weather_forecast` for `forecast` of `weather`. */
type CollectionNames<Collections> = {
  [Collection in keyof Collections & string]: `${Collection}_${keyof Collections[Collection] & string}`;
}[keyof Collections & string];

/**
 * Makes the tools of a record of collections. A tool is named after its collection and its function, with `_` between.
 *
 * @throws {TandemError} when a function cannot be a tool, or two have the same name
 * @example
 * const weather = toolset({
 *   weather: {
 *     forecast: {
 *       description: "The weather of the coming days.",
 *       inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *       examples: [{ city: "Oslo" }],
 *       timeoutMs: 5_000,
 *       execute: ({ city }) => `Sunny in ${city}`,
 *     },
 *   },
 * });
 */
export function toolset<const Collections extends Record<string, Record<string, object>>>(
  collections: {
    [Collection in keyof Collections]: {
      [Name in keyof Collections[Collection]]: ToolsetFunction<Collections[Collection][Name]>;
    };
  },
): Toolset<CollectionNames<Collections>> {
  const record = collections as unknown as Record<string, Record<string, ToolsetFunction<object>>>;
  return toToolset(
    Object.entries(record).flatMap(([collection, functions]) =>
      Object.entries(functions).map(([name, { execute, ...options }]) => ({
        origin: `toolset ${collection}.${name}`,
        tool: tool({ ...options, name: `${collection}_${name}`, fn: execute }),
      })),
    ),
  );
}

/** The same tools with a text before each name. */
export function prefixed<Name extends string, const Prefix extends string>(
  set: Toolset<Name>,
  prefix: Prefix,
): Toolset<`${Prefix}${Name}`> {
  return mapNames(set, (name) => `${prefix}${name}`);
}

/**
 * The same tools with other names for some.
 *
 * @throws {TandemError} when a name is of no tool
 */
export function renamed<Name extends string, const Names extends { readonly [Old in Name]?: string }>(
  set: Toolset<Name>,
  names: Names,
): Toolset<Exclude<Name, keyof Names> | Extract<Names[keyof Names], string>> {
  checkNames(set, Object.keys(names));
  return mapNames(set, (name) => (names as Record<string, string>)[name] ?? name);
}

/**
 * Some of the tools: those that a function says yes to, or those that are named.
 *
 * @throws {TandemError} when a name is of no tool
 */
export function filtered<Name extends string, const Kept extends Name = Name>(
  set: Toolset<Name>,
  which: readonly Kept[] | ((tool: Tool) => boolean),
): Toolset<Kept> {
  if (typeof which !== "function") checkNames(set, which);
  const isKept =
    typeof which === "function" ? which : ({ name }: Tool) => (which as readonly string[]).includes(name);
  return { ...set, tools: set.tools.filter(isKept) as unknown as Toolset<Kept>["tools"] };
}

/**
 * The tools of several toolsets.
 *
 * @throws {TandemError} when two have the same name, with where both come from
 */
export function combined<Name extends string>(...sets: readonly Toolset<Name>[]): Toolset<Name> {
  return toToolset(sets.flatMap(listOrigins));
}

/** A tool with where it comes from. */
export interface OriginOf {
  tool: Tool;
  origin: string;
}

/** The tools of a toolset, each with where it comes from. */
export function listOrigins({ tools, origins }: Toolset): OriginOf[] {
  return tools.map((tool) => ({ tool, origin: origins[tool.name] ?? "a toolset" }));
}

/**
 * Tools as one toolset.
 *
 * @throws {TandemError} when two have the same name, with where both come from
 */
export function toToolset<Name extends string>(entries: readonly OriginOf[]): Toolset<Name> {
  const origins: Record<string, string> = {};
  for (const { tool, origin } of entries) {
    const { name } = tool;
    if (Object.hasOwn(origins, name)) {
      throw new TandemError(`Two tools are named ${JSON.stringify(name)}: ${origins[name]} and ${origin}`);
    }
    origins[name] = origin;
  }
  return { tools: entries.map(({ tool }) => tool) as unknown as Toolset<Name>["tools"], origins };
}

function mapNames<Name extends string>(set: Toolset, rename: (name: string) => string): Toolset<Name> {
  return toToolset(
    listOrigins(set).map(({ tool, origin }) => ({ tool: withName(tool, rename(tool.name)), origin })),
  );
}

function checkNames({ origins }: Toolset, names: readonly string[]): void {
  const unknown = names.find((name) => !Object.hasOwn(origins, name));
  if (unknown === undefined) return;
  const known = Object.keys(origins).join(", ");
  throw new TandemError(`The toolset has no tool named ${JSON.stringify(unknown)}. Its tools: ${known}.`);
}
