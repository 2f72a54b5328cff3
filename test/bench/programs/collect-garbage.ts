// Loaded into a process whose memory is measured, before its program. When it is sent SIGUSR2, it collects garbage, so that
// what is counted is what is needed, and says how much that is. Needs `--expose-gc`.
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  // A line like those of the log that it goes to.
  process.stdout.write(`${JSON.stringify({ level: 20, in_use: heapUsed + external })}\n`);
});
