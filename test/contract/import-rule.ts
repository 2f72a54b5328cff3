// Which file may import which, as design §8 draws it. Pure: it judges texts, so that tests can show it wrong ones.
import { isBuiltin } from "node:module";
import { posix } from "node:path";
import ts from "typescript";

/** A part of the code base that imports are allowed or refused for. */
type Layer =
  | "domain"
  | "postgres"
  | "queue"
  | "wake"
  | "handover"
  | "telemetry"
  | "commands"
  | "queries"
  | "engine.ts"
  | "engine's processes"
  | "api"
  | "worker"
  | "sdk"
  | "sdk's part for Node"
  | "standalone"
  | "cli";

const below: Layer[] = ["domain", "postgres", "queue", "wake"];
const engine: Layer[] = [
  ...below,
  "handover",
  "telemetry",
  "commands",
  "queries",
  "engine.ts",
  "engine's processes",
];

/** What each layer may import of ours. */
const allowed: Record<Layer, Layer[]> = {
  domain: ["domain"],
  postgres: below,
  queue: below,
  wake: below,
  handover: ["domain", "postgres", "handover"],
  telemetry: ["domain", "telemetry"],
  "engine.ts": [...below, "handover", "telemetry", "engine.ts"],
  commands: [...below, "handover", "telemetry", "commands", "queries", "engine.ts"],
  queries: [...below, "telemetry", "commands", "queries", "engine.ts"],
  "engine's processes": engine,
  api: [...engine, "api"],
  worker: [...engine, "worker"],
  sdk: ["sdk"],
  "sdk's part for Node": ["sdk", "sdk's part for Node"],
  standalone: [...engine, "api", "worker", "sdk", "sdk's part for Node", "standalone"],
  cli: [...engine, "api", "worker", "sdk", "sdk's part for Node", "standalone", "cli"],
};

/**
 * Packages that one part alone may import at run time. A database driver: the data layer; the queue, for BullMQ's own
 * connections; and the keeper of the embedded Postgres, which has to know when its server answers. Metrics and traces:
 * their own folder, so that nothing of a process is global.
 */
const drivers: { package: RegExp; folders: string[] }[] = [
  {
    package: /^pg$/,
    folders: [
      "apps/engine/src/postgres/",
      "apps/engine/src/queue/",
      "apps/standalone/src/embedded-postgres/",
    ],
  },
  { package: /^@prisma\//, folders: ["apps/engine/src/postgres/"] },
  { package: /^(?:prom-client$|@opentelemetry\/)/, folders: ["apps/engine/src/telemetry/"] },
];

/** Who may hold SQL: the data layer, and the keeper of the embedded Postgres, which makes the database. */
const sqlFolders = ["apps/engine/src/postgres/", "apps/standalone/src/embedded-postgres/"];

/** Files of a workspace, as an import by name reaches them. */
const sources = /^apps\/([a-z]+)\/src\/(.+)$/;

/**
 * What is wrong with a file's imports, one line each; empty when nothing is.
 *
 * @param file its path from the repository's root, with `/`
 */
export function findImportFaults(file: string, text: string): string[] {
  const layer = findLayer(file);
  if (!layer) return [`${file} is in no layer of the design`];
  const runTime = new Set(listRunTimeImports(text));
  return [...new Set(listImports(text))].flatMap((specifier) => {
    const target = resolve(file, specifier);
    const fault =
      target === null
        ? findPackageFault({ file, layer, specifier, isRunTime: runTime.has(specifier) })
        : findLayerFault(layer, { file, specifier, target });
    return fault === null ? [] : [`${file} imports ${specifier}: ${fault}`];
  });
}

/** Every import of a file: types, re-exports and `import()` too. */
export function listImports(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** The imports that are left when types are gone. */
export function listRunTimeImports(text: string): string[] {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  });
  return listImports(outputText);
}

function findLayer(file: string): Layer | null {
  const [, workspace, rest] = sources.exec(file) ?? [];
  if (workspace === undefined || rest === undefined) return null;
  if (workspace === "sdk" && /^node[./]/.test(rest)) return "sdk's part for Node";
  if (workspace !== "engine") return Object.hasOwn(allowed, workspace) ? (workspace as Layer) : null;
  if (rest === "engine.ts") return "engine.ts";
  if (!rest.includes("/")) return "engine's processes";
  const folder = rest.slice(0, rest.indexOf("/"));
  return [...below, "handover", "telemetry", "commands", "queries"].includes(folder)
    ? (folder as Layer)
    : null;
}

/** The file of ours that an import leads to; null for packages and built-ins. */
function resolve(file: string, specifier: string): string | null {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(file), specifier);
  const [, workspace, rest] = /^@tandem\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  return workspace === undefined ? null : `apps/${workspace}/src/${rest ?? "index"}.ts`;
}

function findLayerFault(
  layer: Layer,
  { file, specifier, target }: { file: string; specifier: string; target: string },
): string | null {
  const other = findLayer(target);
  if (!other) return `${target} is in no layer of the design`;
  if (!allowed[layer].includes(other)) return `${layer} may not import ${other}`;
  const isForeign = sources.exec(file)?.[1] !== sources.exec(target)?.[1];
  return isForeign && specifier.startsWith(".") ? "another workspace is imported by its name" : null;
}

function findPackageFault(found: {
  file: string;
  layer: Layer;
  specifier: string;
  isRunTime: boolean;
}): string | null {
  const { file, layer, specifier, isRunTime } = found;
  if (layer === "sdk" && isBuiltin(specifier))
    return "the SDK's core runs in browsers, which have no Node built-ins";
  const driver = drivers.find((candidate) => candidate.package.test(specifier));
  if (!driver || !isRunTime || driver.folders.some((folder) => file.startsWith(folder))) return null;
  return `only ${driver.folders.join(", ")} may at run time`;
}

/** Beginnings of statements: in capitals, or with enough of the grammar that no prose looks like it. */
const sql = [
  /^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|TRUNCATE|LISTEN|UNLISTEN|NOTIFY|LOCK|SET)\s+\S/,
  /^\s*(?:BEGIN|COMMIT|ROLLBACK)\s*;?\s*$/i,
  /^\s*(?:select\s[^.]+\sfrom\s+\w+|insert\s+into\s+\w+|update\s+\w+\s+set\s|delete\s+from\s+\w+|with\s+\w+\s+as\s*\()/i,
  /^\s*(?:create|alter|drop)\s+(?:unique\s+)?(?:table|index|database|schema|role|user|extension|function)\s/i,
];

/** The texts in a file that look like SQL where none may be, shortened. */
export function findSqlFaults(file: string, text: string): string[] {
  if (sqlFolders.some((folder) => file.startsWith(folder))) return [];
  return listTexts(parse(file, text))
    .filter((value) => sql.some((pattern) => pattern.test(value)))
    .map((value) => `${file} holds SQL: ${value.trim().slice(0, 60)}`);
}

/** Every string of a file; of a template, its beginning. */
function listTexts(node: ts.Node): string[] {
  const own = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) ? [node.text] : [];
  const inner: string[] = [];
  ts.forEachChild(node, (child) => {
    inner.push(...listTexts(child));
  });
  return [...own, ...inner];
}

/** True when a file exports something as `default`. */
export function hasDefaultExport(file: string, text: string): boolean {
  return parse(file, text).statements.some((statement) => {
    if (ts.isExportAssignment(statement)) return true;
    if (ts.isExportDeclaration(statement)) return isDefaultReExport(statement);
    return (
      ts.canHaveModifiers(statement) &&
      (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
    );
  });
}

function isDefaultReExport({ exportClause }: ts.ExportDeclaration): boolean {
  const isNamed = exportClause !== undefined && ts.isNamedExports(exportClause);
  return isNamed && exportClause.elements.some(({ name }) => name.text === "default");
}

function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
}

const drawers = /^(?:utils?|helpers?|common|shared|misc)$/;

/** The parts of a path that are drawers for anything: a thing lives with its idea. */
export function findDrawers(file: string): string[] {
  const parts = file.split("/").map((part) => part.split(".")[0] ?? "");
  return parts.filter((part) => drawers.test(part)).map((part) => `${file}: nothing may be called ${part}`);
}
