// What in the plan of a statement grows with the number of sessions.
import type pg from "pg";
import type { RecordedStatement } from "./recorded-statements.ts";

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows"?: number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
}

/** Tables that grow with use. */
const GROWING =
  /\b(sessions|events|tool_calls|waiting_messages|idempotency_keys|feedback|session_counts|session_tokens)\b(?!_)/;

/** How many rows a statement may read that it does not want, and how many it may sort: lists are counted to 10,000. */
const PASSED_OVER = 500;
const SORTED = 10_001;

/** Whether a statement is about a table that grows. */
export function isAboutGrowing({ text }: RecordedStatement): boolean {
  return (
    /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/i.test(text) && GROWING.test(text) && !/bullmq\./.test(text)
  );
}

/**
 * Plans a statement, with its parameters and without knowing them, and runs it when it only reads. Finds whole tables
 * that are read, rows that are read in vain, and long sorts.
 */
export async function findSlowParts(client: pg.ClientBase, statement: RecordedStatement): Promise<string[]> {
  const reads = !/\b(INSERT|UPDATE|DELETE)\b/i.test(statement.text.replaceAll(/FOR (NO KEY )?UPDATE/gi, ""));
  const plans = [await explain(client, reads ? "ANALYZE, " : "", statement.text, statement.values)];
  if (statement.isNamed) plans.push(await explain(client, "GENERIC_PLAN, ", statement.text));
  return [...new Set(plans.flatMap(toSlowParts))];
}

async function explain(client: pg.ClientBase, option: string, text: string, values?: unknown[]) {
  const { rows } = await client.query(`EXPLAIN (${option}FORMAT JSON) ${text}`, values);
  return rows[0]["QUERY PLAN"][0].Plan as PlanNode;
}

function toSlowParts(node: PlanNode): string[] {
  const { "Node Type": type, "Relation Name": table = "", Plans = [] } = node;
  const inner = Plans.flatMap(toSlowParts);
  if (type === "Seq Scan" && GROWING.test(table)) inner.push(`reads all of ${table}`);
  if ((node["Rows Removed by Filter"] ?? 0) > PASSED_OVER) inner.push(`passes over rows of ${table}`);
  if (type.endsWith("Sort") && (Plans[0]?.["Actual Rows"] ?? 0) > SORTED) inner.push("sorts many rows");
  return inner;
}
