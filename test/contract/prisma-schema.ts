// Prisma's schema and a migrated database in the same words, so that they can be compared.

/** A table as both sides describe it. Lists of columns keep their order; everything else is sorted by name. */
export interface Table {
  columns: Record<string, Column>;
  primaryKey: string[];
  /** Unique and plain indexes by name: their columns, with ` desc` where they run down. */
  uniques: Record<string, string[]>;
  indexes: Record<string, string[]>;
  foreignKeys: Record<string, ForeignKey>;
}

export interface Column {
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
}

export interface ForeignKey {
  columns: string[];
  table: string;
  references: string[];
  onDelete: string;
  onUpdate: string;
}

export type Tables = Record<string, Table>;

interface Field {
  name: string;
  type: string;
  isOptional: boolean;
  isList: boolean;
  attributes: Attribute[];
}

interface Attribute {
  name: string;
  text: string;
}

interface Model {
  name: string;
  table: string;
  fields: Field[];
  attributes: Attribute[];
}

/** Postgres' longest name, in bytes; Prisma cuts its default names to it. */
const longestName = 63;

/** What Prisma makes of its types without a `@db` attribute. */
const defaultTypes: Record<string, string> = {
  String: "text",
  Int: "integer",
  BigInt: "bigint",
  Boolean: "boolean",
  Float: "double precision",
  DateTime: "timestamp(3) without time zone",
  Json: "jsonb",
  Bytes: "bytea",
};

/** The `@db` attributes in Postgres' words. */
const nativeTypes: Record<string, string> = {
  "db.Uuid": "uuid",
  "db.Json": "json",
  "db.JsonB": "jsonb",
  "db.Text": "text",
  "db.SmallInt": "smallint",
  "db.Timestamptz(6)": "timestamp with time zone",
  "db.Timestamptz(3)": "timestamp(3) with time zone",
};

const actions: Record<string, string> = {
  Cascade: "CASCADE",
  Restrict: "RESTRICT",
  SetNull: "SET NULL",
  NoAction: "NO ACTION",
  SetDefault: "SET DEFAULT",
};

/**
 * Reads the models of a Prisma schema.
 *
 * @throws for a type, an attribute or a line that it does not know: nothing is passed over in silence
 */
export function parsePrismaSchema(text: string): Tables {
  const blocks = [...text.replaceAll(/\/\/.*$/gm, "").matchAll(/^model\s+(\w+)\s*\{\n(.*?)^\}/gms)];
  const models = blocks.map(([, name = "", body = ""]) => parseModel(name, body));
  return Object.fromEntries(models.map((model) => [model.table, toTable(model, models)]));
}

function parseModel(name: string, body: string): Model {
  const lines = body
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const attributes = lines.filter((line) => line.startsWith("@@")).flatMap(parseAttributes);
  const fields = lines.filter((line) => !line.startsWith("@@")).map(parseField);
  const map = attributes.find((attribute) => attribute.name === "map");
  return { name, table: map ? readString(map.text) : name, fields, attributes };
}

function parseField(line: string): Field {
  const match = /^(\w+)\s+(\w+)(\?|\[\])?\s*(.*)$/.exec(line);
  if (!match) throw new Error(`Not a field: ${line}`);
  const [, name = "", type = "", mark, rest = ""] = match;
  return { name, type, isOptional: mark === "?", isList: mark === "[]", attributes: parseAttributes(rest) };
}

/** `@name` or `@name(...)`, with parentheses inside counted. */
function parseAttributes(text: string): Attribute[] {
  const found: Attribute[] = [];
  for (let rest = text; rest !== ""; ) {
    const match = /^@@?([\w.]+)/.exec(rest);
    if (!match) throw new Error(`Not an attribute: ${rest}`);
    const end = match[0].length + closing(rest.slice(match[0].length));
    found.push({ name: match[1] ?? "", text: rest.slice(match[0].length, end).slice(1, -1) });
    rest = rest.slice(end).trim();
  }
  return found;
}

/** Where the parenthesis that a text begins with is closed; 0 without one. */
function closing(text: string): number {
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (depth === 0) return index === 0 ? 0 : index + 1;
  }
  return 0;
}

function readString(text: string): string {
  const value = /^(?:name:\s*)?"([^"]+)"$/.exec(text)?.[1];
  if (value === undefined) throw new Error(`Not a name: ${text}`);
  return value;
}

function toTable(model: Model, models: Model[]): Table {
  const columns = model.fields.filter(({ type }) => !models.some((other) => other.name === type));
  return {
    columns: sortKeys(columns.map((field) => [columnOf(model, field.name), toColumn(field)])),
    primaryKey: toPrimaryKey(model),
    uniques: toIndexes(model, { attribute: "unique", suffix: "key" }),
    indexes: toIndexes(model, { attribute: "index", suffix: "idx" }),
    foreignKeys: sortKeys(model.fields.flatMap((field) => toForeignKey(model, field, models))),
  };
}

function columnOf(model: Model, fieldName: string): string {
  const field = model.fields.find(({ name }) => name === fieldName);
  if (!field) throw new Error(`${model.name} has no field ${fieldName}`);
  const map = field.attributes.find(({ name }) => name === "map");
  return map ? readString(map.text) : field.name;
}

const knownAttributes = new Set(["id", "unique", "default", "map", "relation", "updatedAt"]);

function toColumn(field: Field): Column {
  const native = field.attributes.find(({ name }) => name.startsWith("db."));
  const nativeName = native && (native.text === "" ? native.name : `${native.name}(${native.text})`);
  const type = nativeName === undefined ? defaultTypes[field.type] : nativeTypes[nativeName];
  const unknown = field.attributes.find(({ name }) => !name.startsWith("db.") && !knownAttributes.has(name));
  if (type === undefined || field.isList || unknown)
    throw new Error(`Not understood: ${JSON.stringify(field)}`);
  return {
    type,
    isNullable: field.isOptional,
    hasDefault: field.attributes.some(({ name }) => name === "default"),
  };
}

function toPrimaryKey(model: Model): string[] {
  const whole = model.attributes.find(({ name }) => name === "id");
  if (whole) return readFields(model, whole.text);
  const field = model.fields.find(({ attributes }) => attributes.some(({ name }) => name === "id"));
  return field ? [columnOf(model, field.name)] : [];
}

function toIndexes(model: Model, kind: { attribute: string; suffix: string }): Record<string, string[]> {
  const single = model.fields
    .filter(({ attributes }) => attributes.some(({ name }) => name === kind.attribute))
    .map(({ name }) => [columnOf(model, name)]);
  const several = model.attributes
    .filter(({ name }) => name === kind.attribute)
    .map(({ text }) => readFields(model, text));
  return sortKeys(
    [...single, ...several].map((columns) => {
      const names = columns.map((column) => column.split(" ")[0]);
      return [[model.table, ...names, kind.suffix].join("_").slice(0, longestName), columns];
    }),
  );
}

/** The columns of `[a, b(sort: Desc)]`. */
function readFields(model: Model, text: string): string[] {
  const list = /\[([^\]]*)\]/.exec(text)?.[1];
  if (list === undefined || /map:|where:|type:/.test(text)) throw new Error(`Not understood: ${text}`);
  return list.split(",").map((entry) => {
    const [, name = "", order = ""] = /^\s*(\w+)(?:\(sort:\s*(\w+)\))?\s*$/.exec(entry) ?? [];
    return order === "Desc" ? `${columnOf(model, name)} desc` : columnOf(model, name);
  });
}

function toForeignKey(model: Model, field: Field, models: Model[]): [string, ForeignKey][] {
  const relation = field.attributes.find(({ name }) => name === "relation");
  const target = models.find(({ name }) => name === field.type);
  if (!relation || !target) return [];
  const read = (key: string) => new RegExp(`${key}:\\s*(\\[[^\\]]*\\]|\\w+)`).exec(relation.text)?.[1];
  const columns = readFields(model, read("fields") ?? "");
  const onDelete = read("onDelete") ?? (field.isOptional ? "SetNull" : "Restrict");
  const foreignKey: ForeignKey = {
    columns,
    table: target.table,
    references: readFields(target, read("references") ?? ""),
    onDelete: actions[onDelete] ?? onDelete,
    onUpdate: actions[read("onUpdate") ?? "Cascade"] ?? "",
  };
  return [[[model.table, ...columns, "fkey"].join("_").slice(0, longestName), foreignKey]];
}

function sortKeys<T>(entries: (readonly [string, T] | (string | T)[])[]): Record<string, T> {
  return Object.fromEntries(
    entries.map((entry) => entry as [string, T]).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
