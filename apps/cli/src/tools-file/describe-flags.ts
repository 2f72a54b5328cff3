// A tool's own help: what it does, and its flags. Pure.
import type { Tool } from "@tandem/sdk";
import { toHarmless, toHarmlessJson, toHarmlessLine } from "../terminal/harmless.ts";
import { type Flag, listFlagless, toFlags } from "./schema-flags.ts";

/** The help of one tool. */
export function describeTool(file: string, tool: Tool): string {
  const flags = toFlags(tool.inputSchema);
  const rows = flags.map((flag) => [toUsage(flag), toMeaning(flag)] as const);
  const all = [...rows, ...COMMON];
  const width = Math.max(...all.map(([usage]) => usage.length));
  const lines = all.map(([usage, meaning]) => `  ${usage.padEnd(width)}  ${meaning}`.trimEnd());
  const required = flags.filter(({ isRequired }) => isRequired).map((flag) => ` ${toUsage(flag)}`);
  return [
    `Usage: tandem tools call ${file} ${tool.name}${required.join("")} [flags]`,
    "",
    toHarmless(tool.description),
    "",
    "Flags:",
    ...lines,
    ...toFlagless(tool),
    ...toExamples(file, tool),
  ].join("\n");
}

/** What the flags above leave out. */
function toFlagless({ inputSchema }: Tool): string[] {
  const names = listFlagless(inputSchema).map(({ property, isRequired }) => {
    return `${toHarmlessJson(property)}${isRequired ? " (required)" : ""}`;
  });
  return names.length > 0 ? ["", `By --json or --json-file alone: ${names.join(", ")}`] : [];
}

const COMMON = [
  ["--json <object>", "all arguments as JSON; flags beside it win"],
  ["--json-file <file>", "the same from a file; - is standard input"],
  ["--help", "this text"],
] as const;

function toUsage(flag: Flag): string {
  if (flag.kind === "boolean" && !flag.isList) return `--${flag.name}, --no-${flag.name}`;
  const value = flag.choices.length > 0 ? flag.choices.join("|") : flag.kind;
  return toHarmlessLine(`--${flag.name} <${value}>${flag.isList ? "..." : ""}`);
}

function toMeaning(flag: Flag): string {
  const notes = [
    ...(flag.isRequired ? ["required"] : []),
    ...(flag.isList ? ["may be repeated"] : []),
    ...(flag.isNullable ? ["may be null"] : []),
    ...(flag.default === undefined ? [] : [`default: ${toHarmlessJson(flag.default)}`]),
  ];
  const note = notes.length > 0 ? `(${notes.join(", ")})` : "";
  return [toHarmlessLine(flag.description), note].filter(Boolean).join(" ");
}

/** The tool's own examples, as they would be typed. */
function toExamples(file: string, { name, examples = [] }: Tool): string[] {
  if (examples.length === 0) return [];
  const quoted = examples.map((example) => `'${toHarmlessJson(example).replaceAll("'", "'\\''")}'`);
  return ["", "Examples:", ...quoted.map((json) => `  tandem tools call ${file} ${name} --json ${json}`)];
}
