// What model providers ask of a history, over OpenAI's chat completions wire.
import { parseJson } from "@tandem/engine/domain/json";
import type { ChatMessage } from "./fake-model-server.ts";

/** What providers accept as a call's id and as a tool's name. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * What a provider would refuse in a history; empty when it is good. Every call has exactly one result, right behind the
 * message that made it, in order; ids are unique in the whole history; nothing is blank.
 *
 * @example expect(findHistoryFaults(request.body.messages)).toEqual([]);
 */
export function findHistoryFaults(messages: readonly ChatMessage[]): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const say = (fault: string) => faults.push(`message ${index} (${message.role}): ${fault}`);
    if (message.role === "tool") {
      if (!["assistant", "tool"].includes(messages[index - 1]?.role ?? "")) say("belongs to no turn");
      continue;
    }
    const calls = message.tool_calls ?? [];
    if (isBlank(message.content) && calls.length === 0) say("says nothing");
    for (const { id, function: called } of calls) {
      if (!NAME.test(id)) say(`id ${JSON.stringify(id)} is none`);
      if (!NAME.test(called.name)) say(`tool name ${JSON.stringify(called.name)} is none`);
      if (seen.has(id)) say(`id ${id} was used before`);
      seen.add(id);
      if (!isObjectText(called.arguments)) say(`arguments ${called.arguments} are no object`);
    }
    const wanted = calls.map((call) => call.id);
    const given = resultsBehind(messages, index).map((result) => result.tool_call_id);
    if (wanted.join() !== given.join()) say(`calls [${wanted.join()}] have results [${given.join()}]`);
  }
  return faults;
}

function resultsBehind(messages: readonly ChatMessage[], index: number): ChatMessage[] {
  const behind = messages.slice(index + 1);
  const end = behind.findIndex(({ role }) => role !== "tool");
  return end === -1 ? behind : behind.slice(0, end);
}

function isBlank(content: unknown): boolean {
  if (!Array.isArray(content)) return typeof content !== "string" || content.trim() === "";
  return content.length === 0 || content.some((part) => part.type === "text" && isBlank(part.text));
}

function isObjectText(text: string): boolean {
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
