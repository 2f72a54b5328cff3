// `tandem sessions`: looking at sessions, and steering them.
import type { SessionSummary, TrajectoryStatus } from "@tandem/sdk";
import { connect, type ServerOptions } from "../connect.ts";
import { type ExitCode, exitCodes, usageError } from "../exit-codes.ts";
import { toAnswerText } from "../run/tell-event.ts";
import { shorten, toHarmlessLine } from "../terminal/harmless.ts";
import { note, print, printJson } from "../terminal/output.ts";
import { toMinute, toTable } from "../terminal/table.ts";

/** The flags of `tandem sessions list`. */
export interface ListOptions extends ServerOptions {
  status?: TrajectoryStatus[];
  agent?: string[];
  search?: string;
  limit: number;
  json?: boolean;
}

/** Longest piece of a first message in a list, in characters. */
const SHOWN_CHARACTERS = 60;

export async function listSessions(options: ListOptions): Promise<ExitCode> {
  const client = await connect(options);
  const { status, agent, search } = options;
  const query = {
    size: options.limit,
    sort: ["-created_at" as const],
    ...(status ? { status } : {}),
    ...(agent ? { agent } : {}),
    ...(search === undefined ? {} : { search }),
  };
  const page = await client.listSessions({ query });
  if (options.json) printJson(page);
  else
    for (const line of toTable(["ID", "STATUS", "CREATED (UTC)", "AGENT", "MESSAGE"], page.items.map(toRow)))
      print(line);
  if (!options.json && page.total > page.items.length)
    note(`${page.items.length} of ${page.total}; --limit shows more.`);
  return exitCodes.ok;
}

function toRow({ id, status, created_at: created, agent, first_message: first }: SessionSummary): string[] {
  const message = typeof first?.message === "string" ? first.message : "";
  return [id, status, toMinute(created), agent ?? "-", shorten(message, SHOWN_CHARACTERS)];
}

export async function getSession(id: string, options: ServerOptions & { json?: boolean }): Promise<ExitCode> {
  const client = await connect(options);
  const session = await client.getSession({ path: { id } });
  if (options.json) {
    printJson(session);
    return exitCodes.ok;
  }
  const { status, request } = session;
  const waiting = status.waiting_on;
  const facts = [
    ["id", session.id],
    ["status", `${status.status}${status.reason ? ` (${status.reason})` : ""}`],
    ["waits for", waiting && `${waiting.what}${waiting.deadline ? ` until ${waiting.deadline}` : ""}`],
    ["agent", typeof request.agent === "string" ? request.agent : request.agent.name],
    ["created", session.created_at],
    ["started", session.started_at],
    ["finished", session.finished_at],
    ["steps", String(status.steps)],
    ["error", status.error],
  ] as const;
  for (const [name, value] of facts) if (value) print(`${name.padEnd(10)}${toHarmlessLine(value)}`);
  if (session.latest_answer !== null) print(`\n${toAnswerText(session.latest_answer)}`);
  return exitCodes.ok;
}

export async function cancelSessions(ids: string[], options: ServerOptions): Promise<ExitCode> {
  const client = await connect(options);
  for (const id of ids) {
    await client.cancelSession({ path: { id } });
    note(`Session ${toHarmlessLine(id)} is cancelled.`);
  }
  return exitCodes.ok;
}

export async function sendMessage(id: string, message: string, options: ServerOptions): Promise<ExitCode> {
  if (message.trim() === "") throw usageError("The message is empty.");
  const client = await connect(options);
  await client.session(id).sendMessage(message);
  note(`The message was taken; \`tandem tail ${toHarmlessLine(id)}\` shows what comes of it.`);
  return exitCodes.ok;
}
