// What was thrown, in words.

/** The message of an error, or the text of any other value that was thrown. */
export function describeError(error: unknown): string {
  try {
    const { message, name } = Object(error) as { message?: unknown; name?: unknown };
    for (const text of [message, name]) if (typeof text === "string" && text !== "") return text;
    return String(error);
  } catch {
    return "The tool failed with a value that has no text";
  }
}
