/** Asks Ajv whether a value fits a schema, so that the demo model never sends arguments that do not. */

import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isRecord } from "./json-schema.ts";

/** True when the value fits; a schema that cannot be compiled fits nothing. */
export type Conforms = (schema: unknown, value: unknown) => boolean;

/** Where a root schema is registered, so that its parts can refer into it. */
const ROOT_ID = "demo:root";

/**
 * Returns a check for schemas that are parts of `root`: their `$ref`s into the root still resolve.
 * Each schema is compiled once per check, so keep the check only as long as one tool is being looked at.
 */
export function createConforms(root: unknown): Conforms {
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false });
  addFormats.default(ajv);
  if (isRecord(root)) {
    const { $schema: _dialect, ...rest } = root;
    tryTo(() => ajv.addSchema({ ...rest, $id: ROOT_ID }));
  }
  const compiled = new Map<unknown, (value: unknown) => boolean>();
  return (schema, value) => {
    const known = compiled.get(schema);
    const validate =
      known ?? compile(ajv, schema === root ? { $ref: `${ROOT_ID}#` } : tryTo(() => rebase(schema)));
    if (known === undefined) compiled.set(schema, validate);
    return tryTo(() => validate(value)) ?? false;
  };
}

function compile(ajv: Ajv2020, schema: unknown): (value: unknown) => boolean {
  if (schema === true) return () => true;
  if (!isRecord(schema)) return () => false;
  const validate = tryTo(() => ajv.compile(schema));
  return validate === undefined ? () => false : (value) => validate(value) === true;
}

/** A part of the root whose local references lead into the root, and without names that Ajv would look up. */
function rebase(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rebase);
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): Array<[string, unknown]> => {
    if ((key === "$id" || key === "$schema") && typeof value === "string") return [];
    if (key === "$ref" && typeof value === "string" && value.startsWith("#"))
      return [[key, `${ROOT_ID}${value}`]];
    return [[key, key === "enum" || key === "const" || key === "default" ? value : rebase(value)]];
  });
  return Object.fromEntries(entries);
}

/** Hostile schemas throw in many ways (endless references, broken patterns); all of them mean "does not fit". */
function tryTo<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}
