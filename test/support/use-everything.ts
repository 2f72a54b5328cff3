// Everything that a server can be asked for, done once, and what it does by itself.
import type { TestStack } from "./stack.ts";
import { waitFor } from "./wait-for.ts";
import { createWire, type PendingCall, resultFor, type Wire, type WireOptions, weatherTool } from "./wire.ts";

const agent = { name: "often", tools: [weatherTool] };
const terminal = ["completed", "failed", "timed_out", "interrupted"];

/**
 * Uses every route of a stack with a worker whose model calls the weather tool and then answers.
 *
 * @returns what was requested, as `GET /api/v2/…`
 */
export async function useEverything(stack: TestStack, plain: Wire): Promise<string[]> {
  const requested: string[] = [];
  const ask = async (method: string, path: string, options: WireOptions = {}, wire = plain) => {
    const reply = await wire.send(method, path, options);
    requested.push(`${method} ${path.startsWith("//") ? path.slice(1) : `/api/v2${path}`}`);
    if (reply.status >= 400) throw new Error(`${method} ${path} answered ${reply.status}: ${reply.text}`);
    return reply.body;
  };
  const use = { ask, until: plain.until, pending: plain.pending };
  await useSessions(use);
  await useLists(use);
  await useSharing(use);
  await useTokens(use, stack);
  await useContracts(use);
  await useClocks(use, stack);
  await useCatalogue(use, createWire(stack.baseUrl, await stack.addKey({ isAdmin: true })));
  return requested;
}

interface Use {
  ask(method: string, path: string, options?: WireOptions, wire?: Wire): Promise<WireBody>;
  until: Wire["until"];
  pending: Wire["pending"];
}
type WireBody = Awaited<ReturnType<Wire["get"]>>["body"];

/** Starts a session and waits until it asks for its tool. */
async function start({ ask, until }: Use, more: object = {}, options: WireOptions = {}): Promise<string> {
  const body = { agent, messages: "Weather?", group_id: "g", parent_session_id: "p", ...more };
  const { id } = await ask("POST", "/sessions", { body, ...options });
  await until(id, "awaiting_tool_results");
  return id;
}

async function answer({ ask, pending }: Use, id: string): Promise<void> {
  const [call] = await pending(id);
  await ask("POST", `/sessions/${id}/tool_results`, { body: resultFor(call as PendingCall, "Sunny.") });
}

async function useSessions(use: Use): Promise<void> {
  const { ask, until } = use;
  const headers = { "idempotency-key": "once" };
  const id = await start(use, {}, { headers });
  await ask("POST", "/sessions", {
    body: { agent, messages: "Weather?", group_id: "g", parent_session_id: "p" },
    headers,
  });
  const { next_index } = await ask("GET", `/sessions/${id}/changes`);
  const poll = ask("GET", `/sessions/${id}/changes?from_index=${next_index}&wait_for_seconds=5`);
  await ask("GET", `/sessions/${id}/changes?from_index=${next_index}&wait_for_seconds=1`).catch(() => null);
  await answer(use, id);
  await poll;
  const ended = await until(id, "completed");
  await ask("GET", `/sessions/${id}/stream`);
  await ask("GET", `/sessions/${id}/stream?from_index=1`);
  await ask("GET", `/sessions/${id}/stream?from_index=${ended.next_index}`);
  await ask("POST", `/sessions/${id}/messages`, { body: { message: "Again?" } });
  await until(id, "awaiting_tool_results", "completed");
  await ask("GET", `/sessions/${id}`);
  await ask("GET", `/sessions/${id}/status`);
  for (const query of [
    "",
    "?page=2&size=2",
    "?sort=-timestamp",
    "?type=AgentEvent",
    "?type=AgentEvent&sort=-timestamp",
  ])
    await ask("GET", `/sessions/${id}/events${query}`);

  const steered = await start(use);
  await ask("POST", `/sessions/${steered}/pause`);
  await ask("POST", `/sessions/${steered}/resume`);
  await ask("POST", `/sessions/${steered}/force_answer`);
  await until(steered, ...terminal);
  const cancelled = await start(use);
  await ask("DELETE", `/sessions/${cancelled}`);
  await ask("GET", "/sessions/quota");
}

async function useLists({ ask }: Use): Promise<void> {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  const filters = [
    "",
    "&page=200&size=100",
    "&status=completed",
    "&status=running",
    "&status=paused",
    "&status=failed&status=running",
    "&agent=often",
    "&agent=rare",
    "&agent=nobody",
    "&agent=rare&status=failed",
    "&agent=often&agent=rare",
    "&group_id=group-3",
    "&parent_session_id=parent-3",
    `&created_before=${ago(20_000)}`,
    `&created_after=${ago(200)}`,
    `&created_after=${ago(20_000)}&created_before=${ago(10_000)}`,
    `&finished_after=${ago(200)}`,
    `&finished_before=${ago(20_000)}`,
    `&finished_after=${ago(20_000)}&finished_before=${ago(19_900)}`,
    "&search=answer",
    "&search=nothing&status=running",
  ];
  for (const owner of ["me", "organization"]) {
    for (const sort of ["created_at", "-created_at"]) {
      for (const filter of filters) await ask("GET", `/sessions?owner=${owner}&sort=${sort}${filter}`);
    }
  }
}

async function useSharing(use: Use): Promise<void> {
  const { ask } = use;
  const id = await start(use);
  await ask("POST", `/sessions/${id}/feedback`, { body: { success: true } });
  await ask("PUT", `/sessions/${id}/events/0/feedback`, { body: { success: true } });
  await ask("GET", `/sessions/${id}/feedback`);
  const { share_url } = await ask("POST", `/sessions/${id}/share`);
  const shared = `/shared/${new URL(share_url).pathname.split("/").at(-1)}`;
  await ask("GET", shared);
  await ask("GET", shared, { headers: { accept: "text/html" } });
  await ask("GET", `${shared}/status`);
  await ask("GET", `${shared}/events`);
  await ask("DELETE", `/sessions/${id}/share`);
}

/** Approvals, deadlines of calls, and other tools. */
async function useContracts({ ask, until }: Use): Promise<void> {
  const careful = { ...agent, approval: "always", approval_timeout_s: 600, tool_timeout_s: 0.1 };
  const { id } = await ask("POST", "/sessions", { body: { agent: careful, messages: "Weather?" } });
  await until(id, "awaiting_approval");
  const [{ id: callId }] = (await ask("GET", `/sessions/${id}/tool_calls?state=awaiting_approval`)).items;
  const decision = { call_id: callId, decision: "allow", args: { city: "Lima" } };
  await ask("POST", `/sessions/${id}/approvals`, { body: decision });
  await until(id, "completed");
  await ask("GET", `/sessions/${id}/tools`);
  await ask("PUT", `/sessions/${id}/tools`, { body: { tools: [{ ...weatherTool, max_retries: 1 }] } });
  await ask("GET", `/sessions/${id}/tools`);
  await ask("POST", "/tools/check", { body: { model: "demo/keyword", tools: [weatherTool] } });
}

/** A browser's way, with claims, and lists of calls. */
async function useTokens(use: Use, { baseUrl }: TestStack): Promise<void> {
  const { ask } = use;
  const id = await start(use);
  const body = { tools: ["get_weather"], expires_in_s: 60 };
  const browser = createWire(baseUrl, (await ask("POST", `/sessions/${id}/tokens`, { body })).token);
  const [call] = await browser.pending(id);
  for (const query of ["", "&agents=often&owner=me&limit=1", "&tools=look&agents=nobody"])
    await ask("GET", `/tool_calls?tools=get_weather${query}`);
  const feed = ask("GET", "/tool_calls?tools=nothing&wait_for_seconds=1");
  await ask("GET", "/tool_calls?tools=look&agents=nobody&wait_for_seconds=1");
  await feed;
  const claim = { body: { claimant: "browser", lease_s: 60 } };
  await ask("POST", `/sessions/${id}/tool_calls/${call?.id}/claim`, claim, browser);
  for (const query of ["", "?state=pending", "?page=2&size=1"])
    await ask("GET", `/sessions/${id}/tool_calls${query}`);
  const progress = { body: { progress: 1 } };
  await ask("POST", `/sessions/${id}/tool_calls/${call?.id}/progress`, progress, browser);
  const result = { body: resultFor(call as PendingCall, "Sunny.") };
  await ask("POST", `/sessions/${id}/tool_results`, result, browser);
}

/** What comes by itself: the end of a wait, of a run's time, of what is kept, and a lost step. */
async function useClocks(use: Use, { engine }: TestStack): Promise<void> {
  const { until } = use;
  const idle = await start(use, { idle_timeout_s: 1 });
  await answer(use, idle);
  await until(idle, ...terminal);
  await until(await start(use, { max_time_s: 1 }), ...terminal);
  const kept = await start(use, { delete_after_min: 1 });
  await use.ask("DELETE", `/sessions/${kept}`);
  await engine.pool.query(
    `UPDATE sessions SET finished_at = now() - interval '1 hour' WHERE id = $1 /* the test's */`,
    [kept],
  );
  const emptied = await start(use, { ephemeral: true });
  await use.ask("DELETE", `/sessions/${emptied}`);
  await engine.pool.query(
    `UPDATE sessions SET finished_at = now() - interval '1 hour' WHERE id = $1 /* the test's */`,
    [emptied],
  );
  const isEmpty = async () => (await use.ask("GET", `/sessions/${emptied}/events`)).total === 0;
  await waitFor(isEmpty, { what: "a session's content to be removed", timeoutMs: 20_000 });
  const isGone = async () => !(await engine.catalogue.session.findUnique({ where: { id: kept } }));
  await waitFor(isGone, { what: "a session to be removed", timeoutMs: 20_000 });
}

async function useCatalogue({ ask }: Use, admin: Wire): Promise<void> {
  const made = { name: "made", description: "d", environments: [] };
  await ask("POST", "/agents", { body: made });
  await ask("GET", "/agents");
  await ask("GET", "/agents/made");
  await ask("PUT", "/agents/made", { body: made });
  await ask("PATCH", "/agents/made", { body: { description: "e" } });
  await ask("DELETE", "/agents/made");
  const { id } = await ask("POST", "/keys", { body: { organization: "default" } }, admin);
  await ask("GET", "/keys", {}, admin);
  await ask("DELETE", `/keys/${id}`, {}, admin);
  for (const path of ["//healthz", "//readyz", "//metrics"]) await ask("GET", path);
}
