// Overrides: values that replace parts of a request, checked against the schema of the place they go to.
import { type Fault, TandemError } from "@tandem/engine/domain/errors";
import { copyJson, isJsonObject, type JsonObject, type JsonValue } from "@tandem/engine/domain/json";
import { checkOnce } from "../plugins/validation.ts";
import { branches, type SchemaNode } from "../schemas/branches.ts";
import { SessionRequest } from "../schemas/session-request.ts";
import { type PathStep, parseOverridePath } from "./override-path.ts";

/** The path that adds to a list in place of replacing it, as the reference's clients send tools. */
const TOOLS_PATH = "agent.tools";

/** Most overrides of a request: each is checked by itself. */
const MAX_OVERRIDES = 100;

/**
 * The request with its overrides applied; the given one stays as it is. `request.agent` must be the definition.
 *
 * @throws {TandemError} `invalid_request` at `body.overrides.<path>` for a path that leads nowhere or a value that
 *   does not fit
 */
export function applyOverrides(request: JsonObject, overrides: JsonObject): JsonObject {
  const paths = Object.keys(overrides).length;
  if (paths > MAX_OVERRIDES) {
    throw fault(
      ["body", "overrides"],
      `${paths} overrides are too many; a request may have ${MAX_OVERRIDES}`,
    );
  }
  const result = copyJson(request);
  for (const [path, value] of Object.entries(overrides)) applyOne(result, path, value);
  return result;
}

function applyOne(request: JsonObject, path: string, value: JsonValue): void {
  const loc = ["body", "overrides", path];
  const steps = parseOverridePath(path);
  if (!steps || steps[0]?.field === "overrides")
    throw fault(loc, `${path} is not a path like agent.instructions`);
  if (path === "agent" && !isJsonObject(value))
    throw fault(loc, "agent can only be replaced by a definition");
  let schema = SessionRequest as SchemaNode;
  let parent = request;
  for (const [index, step] of steps.entries()) {
    const schemas = fieldSchemas(schema, step.field);
    if (schemas.length === 0) throw fault(loc, wrongField(schema, step.field, path));
    schema = union(schemas);
    const isLast = index === steps.length - 1;
    if (isLast && step.selectors.length === 0) {
      setField(parent, step.field, value, { path, schema, loc });
      return;
    }
    const child = pickMember(parent, step, loc);
    if (step.selectors.length > 0) schema = union(branches(schema).flatMap((branch) => branch.items ?? []));
    if (isLast) replaceMember(child, value, { schema, loc });
    parent = child.member;
  }
}

interface Target {
  schema: SchemaNode;
  loc: string[];
}

function setField(
  parent: JsonObject,
  field: string,
  value: JsonValue,
  target: Target & { path: string },
): void {
  check(value, target);
  const current = parent[field];
  const isAddition = target.path === TOOLS_PATH && Array.isArray(current) && Array.isArray(value);
  Object.defineProperty(parent, field, {
    value: isAddition ? addByName(current, value) : value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** The list with the added members; one of the same name is replaced. */
function addByName(list: JsonValue[], added: JsonValue[]): JsonValue[] {
  const names = new Set(added.map(nameOf));
  return [...list.filter((member) => !names.has(nameOf(member))), ...added];
}

function nameOf(member: JsonValue): JsonValue {
  return isJsonObject(member) ? (member.name ?? null) : member;
}

function replaceMember(picked: Picked, value: JsonValue, target: Target): void {
  check(value, target);
  picked.list?.splice(picked.index, 1, value);
}

/** A member of a list, or the object in a field. */
interface Picked {
  member: JsonObject;
  list: JsonValue[] | null;
  index: number;
}

function pickMember(parent: JsonObject, step: PathStep, loc: string[]): Picked {
  let picked: Picked = { member: {}, list: null, index: -1 };
  let value = Object.hasOwn(parent, step.field) ? (parent[step.field] ?? null) : null;
  for (const selector of step.selectors) {
    if (!Array.isArray(value)) throw fault(loc, `${step.field} is not a list that has members to pick`);
    const index = value.findIndex(
      (member) => isJsonObject(member) && String(member[selector.field]) === selector.value,
    );
    const member = value[index];
    if (!isJsonObject(member)) {
      throw fault(loc, `${step.field} has no member with ${selector.field}=${selector.value}`);
    }
    picked = { member, list: value, index };
    value = member;
  }
  if (!isJsonObject(value))
    throw fault(loc, `${step.field} is not set, so nothing inside it can be replaced`);
  return step.selectors.length > 0 ? picked : { member: value, list: null, index: -1 };
}

function check(value: JsonValue, { schema, loc }: Target): void {
  const found: Fault | null = checkOnce(schema, value, loc);
  if (!found) return;
  const msg = found.msg.replace(/^the value/, String(loc.at(-1)));
  throw new TandemError("invalid_request", msg, { faults: [{ ...found, msg }] });
}

/** The schemas that a field can have. An object without declared fields takes any. */
function fieldSchemas(schema: SchemaNode, field: string): SchemaNode[] {
  return branches(schema).flatMap((branch) => {
    if (!branch.properties) return branch.type === "object" ? [{}] : [];
    const found = Object.hasOwn(branch.properties, field) ? branch.properties[field] : undefined;
    return found ? [found] : [];
  });
}

function wrongField(schema: SchemaNode, field: string, path: string): string {
  const fields = branches(schema).flatMap((branch) => Object.keys(branch.properties ?? {}));
  return `${path} leads nowhere: there is no field ${field}; the fields there are ${[...new Set(fields)].join(", ")}`;
}

function union(schemas: SchemaNode[]): SchemaNode {
  const [first] = schemas;
  return schemas.length === 1 && first ? first : { anyOf: schemas };
}

function fault(loc: string[], msg: string): TandemError {
  return new TandemError("invalid_request", msg, { faults: [{ loc, msg, type: "override" }] });
}
