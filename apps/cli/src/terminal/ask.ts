// A question to the person at the terminal.
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Where a question is put, and where its answer comes from. */
export interface Conversation {
  input: Readable & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean };
}

/** True when there is somebody who sees the question and can type. */
export function canAsk({ input, output }: Conversation): boolean {
  return Boolean(input.isTTY) && Boolean(output.isTTY);
}

/**
 * Puts a question and gives the line that was typed; null when the input has ended. The terminal does the editing, so
 * that Ctrl-C is the signal that it always is.
 *
 * @throws the signal's reason when that is aborted first
 */
export function ask(
  question: string,
  { input, output }: Conversation,
  signal: AbortSignal,
): Promise<string | null> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input, terminal: false });
    const finish = (settle: () => void) => {
      signal.removeEventListener("abort", onAbort);
      lines.removeAllListeners("close");
      lines.close();
      settle();
    };
    const onAbort = () =>
      finish(() => {
        output.write("\n");
        reject(signal.reason);
      });
    signal.addEventListener("abort", onAbort, { once: true });
    lines.once("line", (line) => finish(() => resolve(line)));
    lines.once("close", () => finish(() => resolve(null)));
    output.write(question);
  });
}
