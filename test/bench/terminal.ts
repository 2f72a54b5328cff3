// What the bench's programs have in common at a terminal.

/** Tells progress, with the seconds since the start, on standard error: standard output is the result's. */
export function createTell(): (line: string) => void {
  const startedAt = performance.now();
  return (line) => {
    const seconds = (performance.now() - startedAt) / 1_000;
    process.stderr.write(`${seconds.toFixed(1).padStart(6)} s  ${line}\n`);
  };
}

/** Closes at the first SIGINT or SIGTERM and exits with 130. What it gives is aborted from then on. */
export function closeOnSignal(run: { close(): Promise<void> }, tell: (line: string) => void): AbortSignal {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    tell(`${signal}: closing`);
    void run.close().then(() => process.exit(130));
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return stopping.signal;
}
