// Rows in columns. Pure.
import { toHarmlessLine } from "./harmless.ts";

/** Lines of columns that stand under each other; the last one is not filled up. */
export function toTable(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows].map((row) => row.map(toHarmlessLine));
  const widths = heads.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? "")].length)));
  return all.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : fill(cell, widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

function fill(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - [...text].length));
}

/** A time as lists show it, in UTC; a dash when there is none. */
export function toMinute(time: string | Date | null | undefined): string {
  return time ? new Date(time).toISOString().slice(0, 16).replace("T", " ") : "-";
}
