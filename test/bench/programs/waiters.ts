// Clients that wait, in a process of their own: each holds one long poll on a socket of its own, and polls again when
// nothing came. It is told what to hold, and tells when a poll got its body.
import { Agent, type ClientRequest, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
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
export type FromWaiters = { held: number } | { released: Released } | ({ wokenAt: number[] } & Released);

/** How it went. */
export interface Released {
  /** How often a poll was answered with an error, or its connection failed. */
  refused: number;
}

/** Longest that a server lets a poll wait, in seconds. */
const WAIT_S = 25;

/** How long a client waits when it was refused, in milliseconds. */
const RETRY_MS = 250;

/** Polls come one after the other, as clients do, 1,000 a second: a rush is another matter. */
const PER_TURN = 50;
const TURN_MS = 50;

const tell = (message: FromWaiters) => process.send?.(message);

let agent = new Agent({ keepAlive: true });
let open = new Set<ClientRequest>();
let refused = 0;

/** Sends each poll, and sends it again until there is a body. A refused one is sent again too, as clients do it. */
async function hold({ baseUrl, apiKey, polls }: Hold): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const headers = { authorization: `Bearer ${apiKey}` };
  const mine = new Set<ClientRequest>();
  open = mine;
  refused = 0;
  const wokenAt: number[] = [];
  let sent = 0;
  const poll = (target: Hold["polls"][number]): void => {
    if (open !== mine) return;
    const path = `/api/v2/sessions/${target.sessionId}/changes?from_index=${target.cursor}&wait_for_seconds=${WAIT_S}`;
    const waiting = request({ agent, hostname, port, path, headers });
    const again = () => {
      if (open === mine) refused++;
      setTimeout(poll, RETRY_MS, target);
    };
    mine.add(waiting);
    waiting.once("close", () => mine.delete(waiting));
    waiting.once("error", again);
    waiting.once("response", (response) => {
      response.resume();
      response.once("end", () => {
        if (response.statusCode === 204) return poll(target);
        if (response.statusCode !== 200) return again();
        if (wokenAt.push(monotonicMs()) === polls.length) tell({ wokenAt, refused });
      });
    });
    waiting.end();
  };
  for (let start = 0; start < polls.length && open === mine; start += PER_TURN) {
    for (const target of polls.slice(start, start + PER_TURN)) poll(target);
    sent = Math.min(start + PER_TURN, polls.length);
    await delay(TURN_MS);
  }
  tell({ held: sent });
}

function release(): void {
  const waiting = open;
  open = new Set();
  for (const poll of waiting) poll.destroy();
  agent.destroy();
  agent = new Agent({ keepAlive: true });
  tell({ released: { refused } });
}

process.on("message", (message: ToWaiters) => {
  if ("hold" in message) void hold(message.hold);
  else release();
});
process.once("disconnect", () => process.exit(0));
