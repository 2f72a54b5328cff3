// A stack whose fake model plays a part of its own in each session, with the checks that must hold after anything.
import { expect } from "vitest";
import type { ParsedChatRequest, Reply } from "./fake-model-server.ts";
import { findHistoryFaults } from "./history.ts";
import { apiKey, startStack, type TestStack } from "./stack.ts";
import { createWire, type PendingCall, resultFor, type Wire } from "./wire.ts";

/** What a session's model says, turn by turn; after that it answers "Done.". */
export type Part = (Reply | ((request: ParsedChatRequest) => Reply))[];

/** A tool that takes any object. */
export const echoTool = { name: "echo", description: "Gives back what it gets." };

export interface Storm {
  stack: TestStack;
  wire: Wire;
  /** Creates a session with this part and returns its id. */
  start(part: Part, agent?: object): Promise<string>;
  /** The requests that a session's model got. */
  requestsOf(sessionId: string): ParsedChatRequest[];
  /** Settles what is pending, again and again, until the session has answered "Done."; the changes from 0 on. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  finish(sessionId: string): Promise<any>;
  /** The worker lives, no history has a fault, and no session's events have a gap. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a stack for a storm. */
export async function startStorm(backend: "postgres" | "redis" = "postgres"): Promise<Storm> {
  const parts = new Map<string, Part>();
  const names = new Map<string, string>();
  const stack = await startStack({ backend, script: (request) => play(parts, request) });
  const wire = createWire(stack.baseUrl, apiKey);
  const start = async (part: Part, agent: object = { tools: [echoTool] }) => {
    const name = `part ${parts.size}`;
    parts.set(name, part);
    const id = await wire.create({ agent: { name: "x", ...agent }, messages: name });
    names.set(id, name);
    return id;
  };
  const finish = async (sessionId: string) => {
    for (;;) {
      const seen = await wire.until(sessionId, "awaiting_tool_results", "completed", "failed");
      if (seen.status !== "awaiting_tool_results") {
        expect(seen).toMatchObject({ status: "completed", answer: "Done.", reason: "answered" });
        return seen;
      }
      const results = (await wire.pending(sessionId)).map((call: PendingCall) => resultFor(call, "ok"));
      expect((await wire.post(`/sessions/${sessionId}/tool_results`, { results })).status).toBe(202);
    }
  };
  return {
    stack,
    wire,
    start,
    finish,
    requestsOf: (sessionId) =>
      stack.model.requests.filter((request) => partOf(request) === names.get(sessionId)),
    async check() {
      await finish(await start([]));
      const faults = stack.model.requests.flatMap(({ body }) => findHistoryFaults(body.messages));
      expect(faults).toEqual([]);
      expect(await findGaps(stack)).toEqual([]);
    },
    close: () => stack.close(),
  };
}

function play(parts: ReadonlyMap<string, Part>, request: ParsedChatRequest): Reply {
  const turn = request.body.messages.filter(({ role }) => role === "assistant").length;
  const said = parts.get(partOf(request))?.[turn] ?? { text: "Done." };
  return typeof said === "function" ? said(request) : said;
}

/** The first message names the part. */
function partOf({ body }: ParsedChatRequest): string {
  return String(body.messages.find(({ role }) => role === "user")?.content);
}

async function findGaps(stack: TestStack): Promise<string[]> {
  const { rows } = await stack.engine.pool.query<{ id: string }>(
    `SELECT id FROM sessions LEFT JOIN events ON session_id = id GROUP BY id
     HAVING count(index) <> next_index OR min(index) <> 0 OR max(index) <> next_index - 1`,
  );
  return rows.map((row) => row.id);
}
