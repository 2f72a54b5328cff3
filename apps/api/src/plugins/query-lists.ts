// Lists in the query: repeated parameters by the spec, JSON text in one parameter by the reference's older client.
import type { App } from "../context.ts";

/** Turns every given list parameter into an array before it is checked. */
export function readQueryLists(app: App): void {
  app.addHook("preValidation", async (request) => {
    const schema = request.routeOptions.schema?.querystring as
      | { properties?: Record<string, unknown> }
      | undefined;
    const query = request.query as Record<string, unknown>;
    for (const [name, property] of Object.entries(schema?.properties ?? {})) {
      if (query[name] !== undefined && isList(property)) query[name] = toList(query[name]);
    }
  });
}

function isList(property: unknown): boolean {
  return (property as { type?: unknown }).type === "array";
}

function toList(value: unknown): unknown[] {
  const values = Array.isArray(value) ? value : [value];
  return values.flatMap((entry) => (typeof entry === "string" ? readEntry(entry) : [entry]));
}

/** One parameter's text: a JSON list or string, or a plain word. An empty one adds nothing. */
function readEntry(text: string): unknown[] {
  if (text === "") return [];
  if (!text.startsWith("[") && !text.startsWith('"')) return [text];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    return [text];
  }
}
