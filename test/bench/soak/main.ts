// `npm run soak -- [--json] [--backend postgres|redis] [--seconds N]`: half an hour of mixed load, compressed into three
// minutes. Exits with 1 when memory, handles, connections or the queue have grown beyond what is allowed, when a reply or
// a log line was an error, or when a session did not end.
import { ArgumentError } from "../arguments.ts";
import { toMachineLine } from "../machine.ts";
import { closeOnSignal, createTell } from "../terminal.ts";
import { parseSoakArguments, type SoakOptions } from "./arguments.ts";
import { runSoak, type SoakResult } from "./run-soak.ts";
import { toCheckTable, toSampleTable } from "./tables.ts";

const tell = createTell();

function readOptions(): SoakOptions {
  try {
    return parseSoakArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function toText({ machine, backend, samples, checks, faults, ok }: SoakResult): string {
  return [
    "",
    toMachineLine(machine),
    "",
    toSampleTable(samples),
    "",
    toCheckTable(checks),
    ...faults.map((fault) => `WRONG  ${fault}`),
    "",
    `${backend}: ${ok ? "it stays up" : "IT DOES NOT STAY UP"}`,
    "",
  ].join("\n");
}

const { json, ...options } = readOptions();
const run = runSoak({ ...options, tell });
const stopped = closeOnSignal(run, tell);
try {
  const result = await run.result;
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : toText(result));
  if (!result.ok) process.exitCode = 1;
} catch (error) {
  // What is under way when a signal comes fails, since its processes are gone.
  if (!stopped.aborted) {
    process.stderr.write(`${(error as Error).stack}\n`);
    process.exitCode = 1;
  }
}
