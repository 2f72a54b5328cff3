// `npm run bench -- [--json] [--quick] [--only name,name] [--rounds N]`: measures Tandem as whole processes, each figure
// beside a floor that was measured in the same run. Exits with 1 only when something could not be measured.
import { ArgumentError, type BenchOptions, parseBenchArguments } from "./arguments.ts";
import { GROUPS } from "./catalogue.ts";
import { toMachineLine } from "./machine.ts";
import { runBench } from "./run-bench.ts";
import { toTable } from "./table.ts";
import { closeOnSignal, createTell } from "./terminal.ts";

const tell = createTell();

function readOptions(): BenchOptions {
  try {
    return parseBenchArguments(
      process.argv.slice(2),
      GROUPS.flatMap(({ names }) => names),
    );
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const options = readOptions();
const run = runBench({ ...options, groups: GROUPS, tell });
const stopped = closeOnSignal(run, tell);
try {
  const { machine, figures } = await run.result;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ machine, figures })}\n`
      : `\n${toMachineLine(machine)}\n\n${toTable(figures)}\n`,
  );
} catch (error) {
  // What was measured when a signal came fails, since its processes are gone.
  if (!stopped.aborted) {
    process.stderr.write(`${(error as Error).stack}\n`);
    process.exitCode = 1;
  }
}
