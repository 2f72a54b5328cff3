// Figures for a person.
import type { Figure } from "./figure.ts";

const COLUMNS = ["figure", "unit", "p50", "p95", "p99", "floor", "ratio"];

/** A table with a line per figure, names to the left and numbers to the right. */
export const toTable = (figures: readonly Figure[]): string =>
  alignColumns([COLUMNS, ...figures.map(toRow)], { left: 2 });

/** Rows of cells in columns: the first `left` of them to the left, the others to the right. */
export function alignColumns(rows: readonly (readonly string[])[], { left }: { left: number }): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    return column < left ? cell.padEnd(width) : cell.padStart(width);
  };
  return rows.map((row) => row.map(pad).join("  ").trimEnd()).join("\n");
}

const toRow = (figure: Figure): string[] => [
  figure.name,
  figure.unit,
  ...[figure.p50, figure.p95, figure.p99].map(toText),
  figure.floor === null ? "-" : toText(figure.floor),
  figure.ratio === null ? "-" : figure.ratio.toFixed(2),
];

/** Large numbers need no fraction, small ones all their digits. */
const toText = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : String(value));
