// One call of a tool by a person: no session, no server. The one place that knows how the SDK runs a call.
import { randomUUID } from "node:crypto";
import { findSchemaFault, findValueFaults } from "@tandem/engine/domain/json-schema";
import { toModelResult } from "@tandem/engine/domain/tool-result-forms";
import { callTool, type Tool } from "@tandem/sdk";
import { CliError, exitCodes, usageError } from "../exit-codes.ts";
import { toHarmless, toHarmlessJson } from "../terminal/harmless.ts";
import { note } from "../terminal/output.ts";

/** What tools see as their session's id. */
const SESSION_ID = "by-hand";

/**
 * Checks the arguments as the server would, and as the tool's own schema does, then runs the tool. Whoever calls it has
 * approved the call by that.
 *
 * @returns what would be posted to the server as the result
 * @throws {CliError} when the arguments do not fit, or the tool failed
 */
export async function callByHand(
  tool: Tool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  await checkArguments(tool, args);
  const callId = `call_${randomUUID()}`;
  const { posted, raised } = await callTool(
    [tool],
    { tool_name: tool.name, args, id: callId },
    {
      sessionId: SESSION_ID,
      callId,
      signal,
      context: undefined,
      progress: async (value) => note(`… ${toHarmlessJson(value)}`),
      askPermission: async () => "allow",
    },
  );
  if (raised) throw failed(raised.message);
  if (posted.kind === "error_event") throw failed(posted.error);
  // A result of the form `{ text, error, … }` can say that the call failed.
  const { isError, text } = toModelResult(posted.result as Parameters<typeof toModelResult>[0]);
  if (isError) throw failed(text);
  return posted.result;
}

async function checkArguments(tool: Tool, args: Record<string, unknown>): Promise<void> {
  const { name, inputSchema } = tool;
  if (inputSchema) {
    const schema = inputSchema as Parameters<typeof findValueFaults>[0];
    const fault = findSchemaFault(schema);
    if (fault) {
      const place = ["inputSchema", ...fault.path].join(".");
      throw usageError(`The schema of ${name} cannot be used: ${place}: ${fault.msg}`);
    }
    const faults = findValueFaults(schema, args as Parameters<typeof findValueFaults>[1]);
    if (faults.length > 0) throw wrongArguments(name, faults.map((line) => `  - ${line}`).join("\n"));
  }
  const parsed = await tool.parse(args);
  if (!parsed.ok) throw wrongArguments(name, toHarmless(parsed.error));
}

function wrongArguments(name: string, faults: string): CliError {
  return usageError(`The arguments do not fit ${name}:\n${faults}\n\`--help\` lists its flags.`);
}

function failed(reason: string): CliError {
  return new CliError(toHarmless(reason), exitCodes.failed);
}
