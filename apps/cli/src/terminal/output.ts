// Where commands write: results on standard output, everything else on standard error.
import { toHarmlessJson } from "./harmless.ts";

const write = process.stdout.write.bind(process.stdout);

/** Writes a line of results. */
export function print(text: string): void {
  write(`${text}\n`);
}

/** Writes a piece of results, without a line's end. */
export function writeResult(text: string): void {
  write(text);
}

/** Writes a value as one line of JSON, or for people as an indented one. */
export function printJson(value: unknown, { indent }: { indent?: number } = {}): void {
  print(toHarmlessJson(value, indent));
}

/** Writes a line that is no result. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * From now on only {@link print} reaches standard output: what tools of a file write there, by `console.log` too, goes
 * to standard error, so that results stay readable for machines.
 */
export function keepStdoutForResults(): void {
  const toStderr = (...args: Parameters<typeof process.stderr.write>) => process.stderr.write(...args);
  process.stdout.write = toStderr as typeof process.stdout.write;
}

let onClosedPipe: (() => void) | null = null;

/**
 * Calls `onClosed`, in place of what was told before, when whoever read standard output has gone: nobody is left to write
 * for.
 */
export function watchForClosedPipe(onClosed: () => void): void {
  if (onClosedPipe === null) listenForErrors();
  onClosedPipe = onClosed;
}

function listenForErrors(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    onClosedPipe?.();
  });
  // Without a reader of what goes wrong there is nobody to tell that either.
  process.stderr.on("error", () => undefined);
}

/** Waits until what was written has left the process. */
export async function flush(): Promise<void> {
  await Promise.all([
    new Promise<void>((resolve) => write("", () => resolve())),
    new Promise<void>((resolve) => process.stderr.write("", () => resolve())),
  ]);
}
