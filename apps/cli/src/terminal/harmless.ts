// Texts of models and tools on their way to a terminal. Pure.

/** Control characters but for line feed and tab, and those that turn the reading direction around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Control characters that JSON leaves as they are. */
const UNESCAPED = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * The text without anything that a terminal would obey: control characters are shown as signs, so that no escape
 * sequence of a model moves the cursor, hides a line or answers for the person.
 */
export function toHarmless(text: string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n").replace(HARMFUL, toSign);
}

/** The same for text that has to stay on one line. */
export function toHarmlessLine(text: string): string {
  return toHarmless(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
}

/** JSON on one line, in which every control character is escaped. It reads back as the same value. */
export function toHarmlessJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? "null").replace(UNESCAPED, toEscape);
}

/** C0 and DEL have signs of their own. */
function toSign(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : toEscape(character);
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The text cut to `length` characters, with a sign that there was more. */
export function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
