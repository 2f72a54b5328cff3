// Notes that tell those who serve tools that a call waits for a result. They carry hashes: names may be long, and notes
// may not.
import { createHash } from "node:crypto";
import type { Wake } from "./wake.ts";

/** Calls that somebody may take: of tools, in a session of an agent of an organization. */
export interface OfferedTools {
  organizationId: string;
  agentName: string;
  toolNames: readonly string[];
}

/** What a note tells. */
export interface CallNote {
  /** Stands for a tool of an organization: {@link toToolTopic}. */
  tool: string;
  /** Stands for an agent: {@link toAgentTopic}. */
  agent: string;
}

const KIND = "call";

/** Tells every process, this one included, that calls may be taken. */
export function tellOfCalls(wake: Wake, { organizationId, agentName, toolNames }: OfferedTools): void {
  const agent = toAgentTopic(agentName);
  for (const toolName of toolNames) {
    wake.broadcast([KIND, toToolTopic(organizationId, toolName), agent].join("."));
  }
}

/** Reads a note; null when it is about something else. */
export function readCallNote(note: string): CallNote | null {
  const [kind, tool, agent] = note.split(".");
  return kind === KIND && tool !== undefined && agent !== undefined ? { tool, agent } : null;
}

/** Stands for a tool of an organization in notes. */
export function toToolTopic(organizationId: string, toolName: string): string {
  return toHash(`${organizationId} ${toolName}`);
}

/** Stands for an agent in notes. */
export function toAgentTopic(agentName: string): string {
  return toHash(agentName);
}

/** Short, and without a comma or a dot. */
function toHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
