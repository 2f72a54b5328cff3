// Clients that wait, in a process of their own: each holds one long poll on a socket of its own, and polls again when
// nothing came. It is told what to hold, and tells when a poll got its body.
import { Agent, type ClientRequest, request } from "node:http";
import { monotonicMs } from "../clock.ts";

/** What it is told. */
export type ToWaiters = { hold: Hold } | { release: true };

/** Polls to hold. */
export interface Hold {
  baseUrl: string;
  apiKey: string;
  polls: { sessionId: string; cursor: number }[];
}

/** What it tells: all polls have been sent; all are gone; all have got a body, each at its moment. */
export type FromWaiters = { held: number } | { released: true } | { wokenAt: number[] } | { fault: string };

/** Longest that a server lets a poll wait, in seconds. */
const WAIT_S = 25;

const tell = (message: FromWaiters) => process.send?.(message);

let agent = new Agent({ keepAlive: true });
let open = new Set<ClientRequest>();
let wokenAt: number[] = [];

function hold({ baseUrl, apiKey, polls }: Hold): void {
  const { hostname, port } = new URL(baseUrl);
  const headers = { authorization: `Bearer ${apiKey}` };
  const mine = new Set<ClientRequest>();
  open = mine;
  wokenAt = [];
  let sent = 0;
  const poll = (target: Hold["polls"][number], isFirst: boolean): void => {
    const path = `/api/v2/sessions/${target.sessionId}/changes?from_index=${target.cursor}&wait_for_seconds=${WAIT_S}`;
    const waiting = request({ agent, hostname, port, path, headers }, (response) => {
      response.resume();
      response.once("end", () => {
        const at = monotonicMs();
        mine.delete(waiting);
        if (open !== mine) return;
        if (response.statusCode === 204) return poll(target, false);
        if (response.statusCode !== 200) return tell({ fault: `A waiting poll got ${response.statusCode}` });
        if (wokenAt.push(at) === polls.length) tell({ wokenAt });
      });
    });
    mine.add(waiting);
    waiting.once("error", (error) => {
      if (open === mine) tell({ fault: `A waiting poll failed: ${error.message}` });
    });
    if (isFirst)
      waiting.once("finish", () => {
        if (++sent === polls.length) tell({ held: sent });
      });
    waiting.end();
  };
  for (const target of polls) poll(target, true);
}

function release(): void {
  const waiting = open;
  open = new Set();
  for (const poll of waiting) poll.destroy();
  agent.destroy();
  agent = new Agent({ keepAlive: true });
  tell({ released: true });
}

process.on("message", (message: ToWaiters) => {
  if ("hold" in message) hold(message.hold);
  else release();
});
process.once("disconnect", () => process.exit(0));
