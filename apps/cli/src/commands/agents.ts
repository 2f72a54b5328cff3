// `tandem agents`: the agents that are stored on the server.
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { NewAgent, PatchAgent } from "@tandem/sdk";
import { connect, type ServerOptions } from "../connect.ts";
import { type ExitCode, exitCodes, usageError } from "../exit-codes.ts";
import { shorten } from "../terminal/harmless.ts";
import { note, print, printJson } from "../terminal/output.ts";
import { toTable } from "../terminal/table.ts";

/** Longest piece of a description in a list, in characters. */
const SHOWN_CHARACTERS = 70;

export async function listAgents(
  options: ServerOptions & { limit: number; search?: string; json?: boolean },
): Promise<ExitCode> {
  const client = await connect(options);
  const { limit, search } = options;
  const page = await client.listAgents({
    query: { size: limit, ...(search === undefined ? {} : { search }) },
  });
  if (options.json) printJson(page);
  else {
    const rows = page.items.map((agent) => [
      agent.name,
      agent.model ?? "(default)",
      String(agent.tools?.length ?? 0),
      shorten(agent.description ?? "", SHOWN_CHARACTERS),
    ]);
    for (const line of toTable(["NAME", "MODEL", "TOOLS", "DESCRIPTION"], rows)) print(line);
  }
  return exitCodes.ok;
}

export async function getAgent(name: string, options: ServerOptions): Promise<ExitCode> {
  const client = await connect(options);
  printJson(await client.getAgent({ path: { agent_name: name } }), { indent: 2 });
  return exitCodes.ok;
}

export async function createAgent(file: string, options: ServerOptions): Promise<ExitCode> {
  const body = (await readAgent(file)) as NewAgent;
  const client = await connect(options);
  printJson(await client.createAgent({ body }), { indent: 2 });
  return exitCodes.ok;
}

export async function updateAgent(name: string, file: string, options: ServerOptions): Promise<ExitCode> {
  const body = (await readAgent(file)) as PatchAgent;
  const client = await connect(options);
  printJson(await client.updateAgent({ path: { agent_name: name }, body }), { indent: 2 });
  return exitCodes.ok;
}

export async function deleteAgent(name: string, options: ServerOptions): Promise<ExitCode> {
  const client = await connect(options);
  await client.deleteAgent({ path: { agent_name: name } });
  note(`Agent ${name} is deleted.`);
  return exitCodes.ok;
}

/** A definition from a JSON file; `-` is standard input. The server checks what is in it. */
async function readAgent(file: string): Promise<Record<string, unknown>> {
  const name = file === "-" ? "standard input" : file;
  let value: unknown;
  try {
    value = JSON.parse(file === "-" ? await text(process.stdin) : await readFile(file, "utf8"));
  } catch (cause) {
    throw usageError(`${name} cannot be read as JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw usageError(`${name} holds no agent: a JSON object is right.`);
}
