// A client's loop in its barest form: create, wait for changes, post results, until the session has ended.
import type { ApiClient } from "./api-client.ts";
import { monotonicMs } from "./clock.ts";
import { type Plan, toCreateBody } from "./plan.ts";

/** A call as events list it. */
export interface PendingCall {
  id: string;
  tool_name: string;
  args: object;
}

/** What a poll gives, as far as the bench looks at it. */
export interface Changes {
  status: string;
  next_index: number;
  new_events: { type: string; data: { pending_tool_calls?: PendingCall[] } }[];
}

/** How a session is played. */
export interface PlayOptions {
  /** The text that calls give. Default a few words. */
  result?: string;
  /** The tool: it is waited for before the post of each result. */
  beforePost?: () => Promise<void>;
  /** Told of each post: how many results the session has had with it, and when it was sent by `monotonicMs`. */
  onPost?: (results: number, sentAt: number) => void;
  /** Leaves the session when it has had so many results, to be played on. Default: plays to the end. */
  until?: number;
  signal?: AbortSignal;
}

/** Longest wait of one poll, in seconds. */
export const POLL_S = 20;

const LIVE = new Set(["queued", "pending", "running", "awaiting_tool_results", "paused", "idle"]);

/** Creates a session and gives its id. */
export async function createSession(api: ApiClient, plan: Plan): Promise<string> {
  const session = await api.call<{ id: string }>("POST", "/sessions", toCreateBody(plan));
  if (!session) throw new Error("The created session was not told");
  return session.id;
}

/** Waits for changes past a cursor; null when there are none for a while. */
export function poll(api: ApiClient, sessionId: string, cursor: number): Promise<Changes | null> {
  return api.call("GET", `/sessions/${sessionId}/changes?from_index=${cursor}&wait_for_seconds=${POLL_S}`);
}

/** The body of a post that settles a call. */
export const toResultBody = (call: PendingCall, result: string): string =>
  JSON.stringify({ kind: "tool_result", tool_req: call, result });

/** The calls that wait by the latest of some events; null when none of them tells. */
export function pendingOf({ new_events: events }: Changes): PendingCall[] | null {
  const state = events.findLast(({ type }) => type === "ActiveStateChangeEvent");
  return state === undefined ? null : (state.data.pending_tool_calls ?? []);
}

/** Where a session was left. */
export interface Played {
  id: string;
  cursor: number;
  results: number;
}

/**
 * Plays a session of a plan.
 *
 * @throws when it ends in another way than `completed`
 */
export async function playSession(api: ApiClient, plan: Plan, options: PlayOptions = {}): Promise<Played> {
  const id = await createSession(api, plan);
  return playOn(api, { id, cursor: 0, results: 0 }, options);
}

/** Plays on where a session was left. */
export async function playOn(api: ApiClient, from: Played, options: PlayOptions = {}): Promise<Played> {
  const { result = "It is the 7th place.", beforePost, onPost, signal } = options;
  const { until = Number.POSITIVE_INFINITY } = options;
  const { id } = from;
  let { cursor, results } = from;
  const posted = new Set<string>();
  while (results < until) {
    signal?.throwIfAborted();
    const changes = await poll(api, id, cursor);
    if (!changes) continue;
    if (changes.status === "completed") return { id, cursor: changes.next_index, results };
    if (!LIVE.has(changes.status)) throw new Error(`Session ${id} is ${changes.status}`);
    cursor = changes.next_index;
    for (const call of pendingOf(changes) ?? []) {
      if (posted.has(call.id)) continue;
      posted.add(call.id);
      const body = toResultBody(call, result);
      results++;
      await beforePost?.();
      const sentAt = monotonicMs();
      await api.call("POST", `/sessions/${id}/tool_results`, body);
      onPost?.(results, sentAt);
    }
  }
  return { id, cursor, results };
}
