// What has been opened, and the end of it.

/** Takes what closes a part, to be called in the reverse order. */
export type Closers = (() => unknown)[];

/** Closes everything, last what was opened first. What cannot be closed is told, and keeps nothing else open. */
export async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      process.stderr.write(`Something could not be closed: ${(error as Error).message}\n`);
    }
  }
}
