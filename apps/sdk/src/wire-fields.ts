// Options are in camel case, fields of the wire in snake case; what both have is only told once.

/** A name in snake case: `maxTimeS` is `max_time_s`. */
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : "";

/** The fields of the wire that options of these names give. */
export type WireFields<Options, Name extends keyof Options & string> = {
  [Key in Name as SnakeCase<Key>]?: Exclude<Options[Key], undefined>;
};

/** The fields that these options give, without those of options that are not given. */
export function toWireFields<Options extends object, const Name extends keyof Options & string>(
  options: Options,
  names: readonly Name[],
): WireFields<Options, Name> {
  const fields: Record<string, unknown> = {};
  for (const name of names) {
    if (options[name] !== undefined)
      fields[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = options[name];
  }
  return fields as WireFields<Options, Name>;
}
