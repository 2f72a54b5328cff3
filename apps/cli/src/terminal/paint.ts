// Colour, where somebody sees it.
import { styleText } from "node:util";

/** What a text is painted with. */
export type Style = "bold" | "dim" | "green" | "yellow" | "red" | "blue" | "magenta" | "cyan";

/** Paints a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** Whether a stream gets colour: a flag or `NO_COLOR` refuse it, `FORCE_COLOR` asks for it, else a terminal has it. */
export function hasColour(
  stream: { isTTY?: boolean },
  options: { color?: boolean; env?: NodeJS.ProcessEnv } = {},
): boolean {
  const { color = true, env = process.env } = options;
  if (!color || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return !["", "0", "false"].includes(env.FORCE_COLOR);
  return Boolean(stream.isTTY) && env.TERM !== "dumb";
}

/** Makes the painter of a stream. */
export function createPaint(stream: { isTTY?: boolean }, options: { color?: boolean } = {}): Paint {
  if (!hasColour(stream, options)) return (_style, text) => text;
  return (style, text) => styleText(style, text, { validateStream: false });
}
