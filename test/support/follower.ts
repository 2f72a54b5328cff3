// A client that follows one session by waiting polls, on a socket of its own.
import { Agent, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** What a follower has seen. */
export interface Followed {
  status: string;
  /** Every event, as JSON text. */
  events: string[];
  /** Replies that were neither events nor "nothing new". */
  refusals: string[];
}

export interface FollowOptions {
  baseUrl: string;
  apiKey: string;
  sessionId: string;
  /** Told when it has seen what there is, and waits from here. */
  onWait?: () => void;
}

const TERMINAL = new Set(["completed", "failed", "timed_out", "interrupted"]);

/** Follows a session from its first event until it has ended. */
export async function follow(options: FollowOptions): Promise<Followed> {
  const { baseUrl, apiKey, sessionId, onWait } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (path: string): Promise<{ status: number; body: string }> => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${baseUrl}${path}`, { agent, headers: { authorization: `Bearer ${apiKey}` } }, resolve).on(
        "error",
        reject,
      );
    });
    return { status: response.statusCode ?? 0, body: await text(response) };
  };
  const followed: Followed = { status: "", events: [], refusals: [] };
  while (!TERMINAL.has(followed.status)) {
    const { events, refusals } = followed;
    const path = `/api/v2/sessions/${sessionId}/changes?from_index=${events.length}&wait_for_seconds=25`;
    if (followed.status === "awaiting_tool_results") onWait?.();
    const { status, body } = await ask(path);
    if (status === 204) continue;
    if (status !== 200) {
      refusals.push(`${status} ${body}`);
      break;
    }
    const changes = JSON.parse(body);
    events.push(...changes.new_events.map((event: unknown) => JSON.stringify(event)));
    if (changes.next_index !== events.length) refusals.push(`a gap before ${changes.next_index}`);
    followed.status = changes.status;
  }
  agent.destroy();
  return followed;
}
