// The commands, their flags and their help. What a command does is loaded when it is called, so that help is quick.
import { Command, Option } from "commander";
import type { ExitCode } from "./exit-codes.ts";
import { addCompletion, addDoctor, addRun, addTail, addTools, addUp } from "./program-actions.ts";
import { addAgents, addKeys, addSessions } from "./program-resources.ts";

/** Takes the exit code of the command that ran. */
export type Finish = (exitCode: ExitCode) => void;

/** Builds the program. */
export function createProgram(version: string, finish: Finish): Command {
  const program = new Command("tandem")
    .description("Tandem runs AI agents on a server while their tools run in your process.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help of a command")
    .addOption(new Option("--no-color", "no colour; NO_COLOR and FORCE_COLOR are heeded too"))
    .option("--base-url <url>", "where the server is (TANDEM_BASE_URL)")
    .option("--api-key <key>", "the key for it (TANDEM_API_KEY)")
    .enablePositionalOptions()
    .showHelpAfterError("(--help tells more)")
    .addHelpText("after", HELP);
  addUp(program, finish);
  addRun(program, finish);
  addTail(program, finish);
  addSessions(program, finish);
  addTools(program, finish);
  addAgents(program, finish);
  addKeys(program, finish);
  addDoctor(program, finish);
  addCompletion(program, finish);
  return program;
}

const HELP = `
Examples:
  tandem up                                            the whole service, on a database of its own
  tandem run "Where is order A-1001?" --tools tools.ts one session, its tools from a file
  tandem tools call tools.ts get_order_status --help   a tool by hand
  tandem doctor                                        what is wrong, and what to do

The server is found by --base-url or TANDEM_BASE_URL, its key by --api-key or TANDEM_API_KEY; without them it is the
stack that runs here (TANDEM_DATA_DIR, or the nearest .tandem).

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no server, 4 refused by the server, 5 an approval and nobody to ask,
124 timeout, 130 interrupted, 143 terminated.`;
