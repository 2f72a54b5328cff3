// `tandem tools`: the tools of a file, without a server.
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Tool } from "@tandem/sdk";
import { type ExitCode, exitCodes, usageError } from "../exit-codes.ts";
import { watchSignals } from "../run/interruption.ts";
import { shorten } from "../terminal/harmless.ts";
import { keepStdoutForResults, print, printJson } from "../terminal/output.ts";
import { toTable } from "../terminal/table.ts";
import { callByHand } from "../tools-file/call-by-hand.ts";
import { describeTool } from "../tools-file/describe-flags.ts";
import { loadTools } from "../tools-file/load-tools.ts";
import { type FlagValues, readFlags } from "../tools-file/read-flags.ts";
import { listFlagless, toFlags } from "../tools-file/schema-flags.ts";

/** Longest piece of a description in a list, in characters. */
const SHOWN_CHARACTERS = 80;

export async function listTools(file: string, options: { json?: boolean }): Promise<ExitCode> {
  keepStdoutForResults();
  const tools = await loadTools([file]);
  if (options.json) {
    printJson(
      tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema ?? {},
      })),
    );
    return exitCodes.ok;
  }
  const rows = tools.map((tool) => [
    tool.name,
    toArguments(tool),
    shorten(tool.description, SHOWN_CHARACTERS),
  ]);
  for (const line of toTable(["NAME", "FLAGS", "DESCRIPTION"], rows)) print(line);
  return exitCodes.ok;
}

function toArguments({ inputSchema }: Tool): string {
  const flagless = listFlagless(inputSchema);
  const json = { name: "json", isRequired: flagless.some(({ isRequired }) => isRequired) };
  const all = [...toFlags(inputSchema), ...(flagless.length > 0 ? [json] : [])];
  return all.map(({ name, isRequired }) => (isRequired ? `--${name}` : `[--${name}]`)).join(" ") || "-";
}

/** Calls a tool with arguments from its own flags. Standard output gets the result's line, and nothing else. */
export async function callToolOfFile(
  file: string,
  name: string,
  words: readonly string[],
): Promise<ExitCode> {
  keepStdoutForResults();
  const tools = await loadTools([file]);
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) {
    const names = tools.map((candidate) => candidate.name).join(", ");
    throw usageError(`${file} has no tool named ${JSON.stringify(name)}. It has: ${names}.`);
  }
  const values = readFlags(words, toFlags(tool.inputSchema));
  if (values.wantsHelp) {
    print(describeTool(file, tool));
    return exitCodes.ok;
  }
  const args = { ...(await readJsonArguments(values)), ...values.args };
  const stop = new AbortController();
  let exitCode: ExitCode | null = null;
  const signals = watchSignals((interruption) => {
    exitCode = interruption.exitCode;
    stop.abort();
  });
  try {
    const result = await untilStopped(callByHand(tool, args, stop.signal), stop.signal);
    printJson({ ok: true, result });
    return exitCodes.ok;
  } catch (error) {
    if (exitCode !== null) return exitCode;
    throw error;
  } finally {
    signals.stop();
  }
}

/** A tool that does not heed its signal is left to itself. */
async function untilStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([promise, stopped]);
}

async function readJsonArguments({ json, jsonFile }: FlagValues): Promise<Record<string, unknown>> {
  if (json !== undefined && jsonFile !== undefined)
    throw usageError("Give either --json or --json-file, not both.");
  if (json !== undefined) return parseArguments(json, "--json");
  if (jsonFile === undefined) return {};
  const source = jsonFile === "-" ? text(process.stdin) : readFile(jsonFile, "utf8");
  const content = await source.catch((cause: Error) => {
    throw usageError(`${jsonFile} cannot be read: ${cause.message}`, { cause });
  });
  return parseArguments(content, jsonFile === "-" ? "Standard input" : jsonFile);
}

function parseArguments(content: string, source: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    throw usageError(`${source} is no JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw usageError(`${source} must be a JSON object with the tool's arguments.`);
}
