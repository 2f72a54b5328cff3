// `tandem run`: one session from the task to the answer, with the tools of files.
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { StartSessionOptions } from "@tandem/sdk";
import { connect, type ServerOptions } from "../connect.ts";
import { type ExitCode, usageError } from "../exit-codes.ts";
import type { ApprovalMode } from "../run/approvals.ts";
import { runTask } from "../run/run-task.ts";
import { keepStdoutForResults } from "../terminal/output.ts";
import { createPaint } from "../terminal/paint.ts";
import { loadModule } from "../tools-file/load-module.ts";
import { loadTools } from "../tools-file/load-tools.ts";

/** The flags of `tandem run`. */
export interface RunOptions extends ServerOptions {
  agent: string;
  model?: string;
  tools?: string[];
  system?: string;
  maxSteps?: number;
  answerSchema?: string;
  timeout?: number;
  approve?: ApprovalMode;
  json?: boolean;
  color?: boolean;
}

/** Runs it. Files are read before a server is asked, so that a slip in them leaves no session behind. */
export async function run(task: string, options: RunOptions): Promise<ExitCode> {
  keepStdoutForResults();
  const tools = await loadTools(options.tools ?? []);
  const answerSchema =
    options.answerSchema === undefined ? undefined : await readSchema(options.answerSchema);
  const messages = task === "-" ? await text(process.stdin) : task;
  if (messages.trim() === "") throw usageError("The task is empty.");
  const conversation = { input: process.stdin, output: process.stderr };
  return runTask({
    client: await connect(options),
    session: {
      agent: options.agent,
      messages,
      tools,
      answerSchema,
      maxSteps: options.maxSteps,
      systemPrompt: options.system,
      overrides: options.model === undefined ? {} : { "agent.model": options.model },
    },
    timeoutMs: options.timeout === undefined ? null : options.timeout * 1_000,
    // An empty standard input is nobody who could be asked; neither is one that was read as the task.
    approve: options.approve ?? "ask",
    conversation: task === "-" ? null : conversation,
    isJson: options.json ?? false,
    paint: createPaint(process.stderr, options),
  });
}

type AnswerSchema = NonNullable<StartSessionOptions["answerSchema"]>;

/** A JSON Schema from a JSON file; or a schema of any kind that a TypeScript or JavaScript file exports as its default. */
async function readSchema(file: string): Promise<AnswerSchema> {
  const schema = file.endsWith(".json") ? await readJson(file) : (await loadModule(file)).default;
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema as AnswerSchema;
  throw usageError(
    `${file} holds no schema: a JSON Schema object, or a file with one as its default export, is right.`,
  );
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    throw usageError(`${file} cannot be read as JSON: ${(cause as Error).message}`, { cause });
  }
}
