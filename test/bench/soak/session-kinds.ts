// The kinds of sessions that a soak is made of. Each plays one to its end, and throws when it ends in another way.
import type { ApiClient } from "../api-client.ts";
import { createWaitingSession } from "../create-waiting-session.ts";
import { createSession, type Played, playOn, playSession, poll } from "../play-session.ts";

/** Plays one session; the key is its own. */
export type PlayKind = (api: ApiClient, key: string) => Promise<unknown>;

const BIG_RESULT = "A big result, of which a model would read the beginning. ".repeat(10_000);

const from = (id: string): Played => ({ id, cursor: 0, results: 0 });

/** Kinds by their share of twenty. */
export const SESSION_KINDS: Record<string, { share: number; play: PlayKind }> = {
  "one tool": {
    share: 8,
    play: (api, key) => playSession(api, { key, steps: 1 }),
  },
  "several steps of several calls": {
    share: 4,
    play: (api, key) => playSession(api, { key, steps: 3, calls: 4 }),
  },
  "a tool that fails": {
    share: 2,
    async play(api, key) {
      const { id, calls } = await createWaitingSession(api, { key, calls: 1 });
      const [tool_req] = calls;
      const body = { kind: "error_event", tool_req, error: "The place is closed.", origin: "client" };
      await api.call("POST", `/sessions/${id}/tool_results`, JSON.stringify(body));
      await playOn(api, from(id));
    },
  },
  "a message and a second turn": {
    share: 2,
    async play(api, key) {
      const id = await createSession(api, { key, steps: 1 });
      const { cursor, results } = await playOn(api, from(id));
      const message = { type: "user_message", message: "And after that?" };
      await api.call("POST", `/sessions/${id}/messages`, JSON.stringify(message));
      await playOn(api, { id, cursor, results });
    },
  },
  "a cancel": {
    share: 2,
    async play(api, key) {
      const { id, cursor } = await createWaitingSession(api, { key, calls: 2 });
      await api.call("DELETE", `/sessions/${id}`);
      const changes = await poll(api, id, cursor);
      if (changes?.status !== "interrupted") throw new Error(`A cancelled session is ${changes?.status}`);
    },
  },
  "a pause": {
    share: 1,
    async play(api, key) {
      const { id } = await createWaitingSession(api, { key, calls: 1 });
      await api.call("POST", `/sessions/${id}/pause`);
      await api.call("POST", `/sessions/${id}/resume`);
      await playOn(api, from(id));
    },
  },
  "a big result": {
    share: 1,
    play: (api, key) => playSession(api, { key, steps: 1 }, { result: BIG_RESULT }),
  },
};

const lots = Object.entries(SESSION_KINDS).flatMap(([name, { share, play }]) =>
  Array.from({ length: share }, () => ({ name, play })),
);
/** Has no divisor in common with the number of lots, so that kinds come mixed and in their shares. */
const STRIDE = 7;

/** The kind of the session of this number. */
export function pickKind(number: number): { name: string; play: PlayKind } {
  const kind = lots[(number * STRIDE) % lots.length];
  if (!kind) throw new Error("There are no kinds of sessions");
  return kind;
}
