// One call of a tool by a person: no session, no server. The one place that knows how the SDK's tools are run.
import { randomUUID } from "node:crypto";
import { findSchemaFault, findValueFaults } from "@tandem/engine/domain/json-schema";
import { toModelResult } from "@tandem/engine/domain/tool-result-forms";
import type { Tool } from "@tandem/sdk";
import { CliError, exitCodes, usageError } from "../exit-codes.ts";

/**
 * Checks the arguments as the server would, then runs the tool.
 *
 * @returns what the tool returned, as JSON would carry it
 * @throws {CliError} when the arguments do not fit, or the tool failed
 */
export async function callByHand(
  tool: Tool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  checkArguments(tool, args);
  const callId = `call_${randomUUID()}`;
  try {
    return toResult(await tool.fn(args, { sessionId: "tools-call", callId, signal }));
  } catch (cause) {
    throw cause instanceof CliError ? cause : new CliError(describe(cause), exitCodes.failed, { cause });
  }
}

function checkArguments({ name, inputSchema }: Tool, args: Record<string, unknown>): void {
  if (!inputSchema) return;
  const schema = inputSchema as Parameters<typeof findValueFaults>[0];
  const fault = findSchemaFault(schema);
  if (fault)
    throw usageError(
      `The schema of ${name} cannot be used: ${["inputSchema", ...fault.path].join(".")}: ${fault.msg}`,
    );
  const faults = findValueFaults(schema, args as Parameters<typeof findValueFaults>[1]);
  if (faults.length === 0) return;
  const lines = faults.map((line) => `  - ${line}`).join("\n");
  throw usageError(`The arguments do not fit ${name}:\n${lines}\n\`--help\` lists its flags.`);
}

/** A copy, as the model's side would get it. A result of the form `{ text, error, … }` can say that the call failed. */
function toResult(value: unknown): unknown {
  const json = JSON.stringify(value ?? null);
  if (json === undefined) throw new Error(`The tool returned a ${typeof value}, which JSON cannot carry`);
  const result: unknown = JSON.parse(json);
  const { isError, text } = toModelResult(result as Parameters<typeof toModelResult>[0]);
  if (isError) throw new CliError(text, exitCodes.failed);
  return result;
}

function describe(error: unknown): string {
  const { message } = Object(error) as Partial<Error>;
  return message || String(error);
}
