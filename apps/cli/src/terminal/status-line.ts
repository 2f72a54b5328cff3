// A line at the bottom that says what is going on, on a terminal alone; other lines are written above it.
import type { Paint } from "./paint.ts";

/** What is written to. */
export interface LineOutput {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Lines, and under them the status. */
export interface StatusLine {
  /** Writes whole lines. While {@link hold} lasts they are kept. */
  write(lines: readonly string[]): void;
  /** Writes a piece of running text, to another stream of the same terminal; what comes next begins a new line. */
  append(text: string, write: (text: string) => unknown): void;
  /** What goes on; null shows nothing. */
  set(status: string | null): void;
  /** Makes room for what somebody else is about to write. */
  makeRoom(): void;
  /** Keeps the place free for a question, until `release` is called. */
  hold(): () => void;
  close(): void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR = "\r\u001b[K";

/** Makes one. Where there is no terminal nothing is animated: lines are all there is. */
export function createStatusLine(
  output: LineOutput,
  paint: Paint,
  { isAnimated = Boolean(output.isTTY) } = {},
): StatusLine {
  let status: string | null = null;
  let since = performance.now();
  let isShown = false;
  let holds = 0;
  /** Where a line was begun and not ended. */
  let begun: ((text: string) => unknown) | null = null;
  const kept: string[] = [];

  const clear = () => {
    if (isShown) output.write(CLEAR);
    isShown = false;
  };
  const draw = () => {
    if (!isAnimated || status === null || holds > 0 || begun) return;
    const frame = FRAMES[Math.floor(performance.now() / FRAME_MS) % FRAMES.length] ?? "";
    const seconds = Math.floor((performance.now() - since) / 1_000);
    const text = `${status}${seconds > 0 ? ` ${seconds} s` : ""}`.slice(0, (output.columns || 80) - 3);
    output.write(`${CLEAR}${paint("cyan", frame)} ${paint("dim", text)}`);
    isShown = true;
  };
  const endLine = () => {
    begun?.("\n");
    begun = null;
  };
  const timer = isAnimated ? setInterval(draw, FRAME_MS).unref() : undefined;
  return {
    write(lines) {
      if (lines.length === 0) return;
      if (holds > 0) {
        kept.push(...lines);
        return;
      }
      clear();
      endLine();
      output.write(`${lines.join("\n")}\n`);
      draw();
    },
    append(text, write) {
      if (text === "") return;
      clear();
      write(text);
      begun = text.endsWith("\n") ? null : write;
    },
    set(next) {
      if (next !== status) since = performance.now();
      status = next;
      if (status === null) clear();
      else draw();
    },
    makeRoom() {
      clear();
      endLine();
    },
    hold() {
      clear();
      endLine();
      holds += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holds -= 1;
        if (holds === 0) this.write(kept.splice(0));
      };
    },
    close() {
      clearInterval(timer);
      clear();
      endLine();
    },
  };
}
