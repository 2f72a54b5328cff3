// An engine on a real database without anybody at work: no worker, no queue, no wake-ups but a record of them, so
// that a test decides what happens and when.
import type { LanguageModelV3Content, LanguageModelV3GenerateResult } from "@ai-sdk/provider";
import type { ClaimedStep } from "@tandem/engine/commands/claim-step";
import { createSession } from "@tandem/engine/commands/create-session";
import { finishStep } from "@tandem/engine/commands/finish-step";
import type { Principal } from "@tandem/engine/domain/api-keys";
import type { SessionRequest } from "@tandem/engine/domain/session-request";
import { readToolHistory } from "@tandem/engine/domain/tool-history";
import type { ToolDefinition } from "@tandem/engine/domain/tools";
import type { Engine } from "@tandem/engine/engine";
import { createKnownSessions } from "@tandem/engine/handover/known-sessions";
import { createCatalogue } from "@tandem/engine/postgres/catalogue";
import { createPool, readPoolUse } from "@tandem/engine/postgres/pool";
import { readLoad } from "@tandem/engine/postgres/read-load";
import { createTelemetry } from "@tandem/engine/telemetry/telemetry";
import { toEffects } from "@tandem/worker/agent/to-effects";
import pino from "pino";
import { createTestDatabase } from "./database.ts";

export interface BareEngine {
  databaseUrl: string;
  engine: Engine;
  /** Jobs that were put in the queue, as `session.fence`. */
  queued: Set<string>;
  /** Sessions that were woken. */
  woken: Set<string>;
  /** The same with a limit of active sessions. */
  withLimit(maxActiveSessions: number): Engine;
  addOrganization(name: string): Promise<Principal>;
  close(): Promise<void>;
}

export async function startBareEngine(): Promise<BareEngine> {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, max: 10, applicationName: "tandem-test", onError: () => {} });
  const catalogue = createCatalogue(pool);
  const queued = new Set<string>();
  const woken = new Set<string>();
  const nothing = async () => undefined;
  const log = pino({ level: "silent" });
  const sources = {
    readLoad: () => readLoad(pool),
    readQueue: () => engine.queue.count(),
    readPool: () => readPoolUse(pool),
  };
  const telemetry = createTelemetry({ name: "tandem-test", log, sources });
  const engine: Engine = {
    pool,
    catalogue,
    telemetry,
    log,
    maxActiveSessions: 0,
    knownSessions: createKnownSessions(),
    queue: {
      add: async ({ sessionId, fence }) => void queued.add(`${sessionId}.${fence}`),
      addTimer: nothing,
      ready: nothing,
      count: async () => ({ waiting: 0, active: 0, delayed: 0 }),
      consume: () => ({ close: nothing }),
      reserve: () => null,
      close: nothing,
    },
    wake: {
      publish: (sessionId) => void woken.add(sessionId),
      subscribe: () => () => undefined,
      send: () => undefined,
      broadcast: () => undefined,
      receive: () => () => undefined,
      tell: () => undefined,
      hear: () => () => undefined,
      onReopen: () => () => undefined,
      ready: nothing,
      close: nothing,
    },
    async close() {
      await telemetry.close();
      await catalogue.$disconnect();
      await pool.end();
    },
  };
  return {
    databaseUrl: database.url,
    engine,
    queued,
    woken,
    withLimit: (maxActiveSessions) => ({ ...engine, maxActiveSessions }),
    async addOrganization(name) {
      const { id } = await catalogue.organization.create({ data: { name } });
      return { organizationId: id, userName: "somebody", keyId: id, isAdmin: false };
    },
    async close() {
      await engine.close();
      await database.drop();
    },
  };
}

/** The tools of {@link createBareSession}; they take anything. */
export const bareTools = ["look", "find"].map((name) => ({ name, description: "Takes anything." }));

/** Creates a session with two tools and one message, unless told otherwise. */
export async function createBareSession(
  engine: Engine,
  principal: Principal,
  more: Partial<SessionRequest> = {},
  tools: readonly ToolDefinition[] = bareTools,
): Promise<string> {
  const agent = {
    name: "x",
    description: "x",
    model: "compatible/fake",
    environments: [],
    tools,
  } as unknown as Parameters<typeof createSession>[1]["agent"];
  const request: SessionRequest = {
    agent: "x",
    messages: [userMessage("Hi")],
    max_steps: null,
    max_time_s: null,
    idle_timeout_s: null,
    delete_after_min: null,
    delete_screenshot_after_min: null,
    queue: true,
    repeat_limit: null,
    error_limit: null,
    token_budget: null,
    group_id: null,
    parent_session_id: null,
    overrides: {},
    ...more,
  };
  return (await createSession(engine, { principal, request, agent })).id;
}

export const userMessage = (message: string) => ({
  type: "user_message" as const,
  message,
  images: [],
  caller_id: "user",
});

/** What a model says in one turn. The text stands behind the calls, where no provider may get it back. */
export interface BareReply {
  calls?: { tool: string; args: object }[];
  text?: string;
}

/** Finishes a claimed step as a worker does with this reply of its model; false when the claim was lost. */
export async function finishWith(engine: Engine, step: ClaimedStep, said: BareReply): Promise<boolean> {
  const { session, events } = step;
  const history = events ?? [];
  const tools = readToolHistory(session.tools, history, 0);
  const effects = toEffects(session, { events: history, tools }, toResult(said));
  return finishStep(engine, { sessionId: session.id, fence: session.fence, ...effects }, step);
}

/** The provider repeats its ids in every turn, as some do. */
function toResult({ calls = [], text }: BareReply): LanguageModelV3GenerateResult {
  const content: LanguageModelV3Content[] = calls.map(({ tool, args }, index) => ({
    type: "tool-call",
    toolCallId: `call_${index}`,
    toolName: tool,
    input: JSON.stringify(args),
  }));
  if (text !== undefined) content.push({ type: "text", text });
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1, reasoning: 0 } };
  return { content, usage, warnings: [] } as unknown as LanguageModelV3GenerateResult;
}
