// The commands that do things: up, run, tail, tools, doctor, completion.
import { Argument, type Command, Option } from "commander";
import type { Shell } from "./commands/completion.ts";
import type { doctor } from "./commands/doctor.ts";
import type { RunOptions } from "./commands/run.ts";
import type { TailOptions } from "./commands/tail.ts";
import type { UpOptions } from "./commands/up.ts";
import type { Finish } from "./program.ts";
import {
  act,
  addColourFlag,
  addExamples,
  addJsonFlag,
  addServerFlags,
  gather,
  seconds,
  wholeNumber,
} from "./program-flags.ts";

export function addUp(program: Command, finish: Finish): void {
  const command = program
    .command("up")
    .description("start the whole service: Postgres unless there is one, API and worker")
    .option("--port <port>", "where it listens; 0 takes a free one (PORT)", wholeNumber(0, 65_535))
    .option("--data-dir <folder>", "where it keeps its database and key (TANDEM_DATA_DIR)")
    .option("--model <model>", "the model of agents that name none, as provider/model (TANDEM_MODEL)");
  addColourFlag(command);
  addExamples(
    command,
    "tandem up",
    "tandem up --port 4000 --data-dir /var/lib/tandem",
    "OPENAI_API_KEY=sk-… tandem up --model openai/gpt-5-mini",
  );
  act(command, finish, async (options: UpOptions) => (await import("./commands/up.ts")).up(options));
}

export function addRun(program: Command, finish: Finish): void {
  const command = program
    .command("run")
    .description("run one session: show what happens, print the answer")
    .argument("<task>", "what the agent shall do; - reads it from standard input")
    .option("-a, --agent <name>", "the agent", "tandem/assistant")
    .option("-m, --model <model>", "another model for it, as provider/model")
    .option("-t, --tools <file>", "a TypeScript or JavaScript file of tools; may be repeated", gather)
    .option("--system <text>", "the whole system prompt, in place of the agent's")
    .option("--max-steps <n>", "model calls, then it must answer", wholeNumber(1))
    .option(
      "--answer-schema <file>",
      "JSON Schema that the answer must fit: a JSON file, or a module's default export",
    )
    .option("--timeout <seconds>", "then the session is cancelled (exit code 124)", seconds)
    .addOption(
      new Option("--approve <mode>", "who approves calls that need it (default: ask, on a terminal)").choices(
        ["ask", "all", "none"],
      ),
    )
    .option("--json", "print each event as a line of JSON, and last the result");
  addServerFlags(command);
  addExamples(
    command,
    'tandem run "Hello"',
    'tandem run "Where is order A-1001?" --tools ./tools.ts',
    'tandem run "Tidy up" --tools ./tools.ts --approve all --timeout 120',
    'tandem run "Where is the Eiffel tower?" --answer-schema city.json --json | tail -1',
    "git diff | tandem run - --system 'Write a commit message for this diff.'",
  );
  act(command, finish, async (options: RunOptions, task: string) =>
    (await import("./commands/run.ts")).run(task, options),
  );
}

export function addTail(program: Command, finish: Finish): void {
  const command = program
    .command("tail")
    .description(
      "show a session's events: those so far, then live until it has ended, at a terminal with the model's text",
    )
    .argument("<session>", "the session's id")
    .option("--from <n>", "leave out the first n events", wholeNumber(0), 0)
    .option("--no-follow", "end with the last event there is");
  addServerFlags(addJsonFlag(command));
  addExamples(
    command,
    "tandem tail 01a22994-…",
    "tandem tail 01a22994-… --from 12 --json",
    "tandem tail 01a22994-… --no-follow | less",
  );
  act(command, finish, async (options: TailOptions, id: string) =>
    (await import("./commands/tail.ts")).tail(id, options),
  );
}

export function addTools(program: Command, finish: Finish): void {
  const tools = program.command("tools").description("look at the tools of a file, and call them by hand");
  addExamples(
    tools,
    "tandem tools list ./tools.ts",
    "tandem tools call ./tools.ts get_order_status --order-id A-1001",
  );
  const list = tools
    .command("list")
    .description("the tools of a file")
    .argument("<file>", "a TypeScript or JavaScript file");
  addExamples(
    addJsonFlag(addColourFlag(list)),
    "tandem tools list ./tools.ts",
    "tandem tools list ./tools.ts --json",
  );
  act(list, finish, async (options: { json?: boolean }, file: string) => {
    return (await import("./commands/tools.ts")).listTools(file, options);
  });
  const call = tools
    .command("call")
    .usage("<file> <name> [flags of the tool]")
    .description("call a tool of a file; its flags are made from its schema")
    .argument("<file>", "a TypeScript or JavaScript file")
    .argument("<name>", "the tool's name; with --help after it its flags are told")
    .argument("[flags...]", "its arguments, in kebab-case: --order-id A-1001")
    .passThroughOptions();
  addColourFlag(call);
  addExamples(
    call,
    "tandem tools call ./tools.ts get_order_status --help",
    "tandem tools call ./tools.ts get_order_status --order-id A-1001",
    "tandem tools call ./tools.ts send --to ann --to bob --no-urgent",
    `tandem tools call ./tools.ts get_order_status --json '{"order_id": "A-1001"}'`,
    "cat order.json | tandem tools call ./tools.ts get_order_status --json-file -",
  );
  act(call, finish, async (_: unknown, file: string, name: string, words: string[]) => {
    return (await import("./commands/tools.ts")).callToolOfFile(file, name, words);
  });
}

export function addDoctor(program: Command, finish: Finish): void {
  const command = program
    .command("doctor")
    .description("check Node, settings, database, queue, API and models, and say what to do");
  addServerFlags(addJsonFlag(command));
  addExamples(command, "tandem doctor", "DATABASE_URL=postgresql://… tandem doctor --json");
  act(command, finish, async (options: Parameters<typeof doctor>[0]) =>
    (await import("./commands/doctor.ts")).doctor(options),
  );
}

export function addCompletion(program: Command, finish: Finish): void {
  const command = program
    .command("completion")
    .description("print a completion script for your shell")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]));
  addColourFlag(command);
  addExamples(
    command,
    'bash, in ~/.bashrc:                eval "$(tandem completion bash)"',
    'zsh, in ~/.zshrc after compinit:   eval "$(tandem completion zsh)"',
    "fish, in ~/.config/fish/config.fish:  tandem completion fish | source",
  );
  act(command, finish, async (_: unknown, shell: Shell) => {
    return (await import("./commands/completion.ts")).completion(program, shell);
  });
}
