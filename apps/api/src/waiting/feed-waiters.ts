// Waiting feeds: who waits for calls of which tools. A waiter holds no connection and asks nothing: a note wakes it, or
// the moment at which a claim lapses.
import type { Engine } from "@tandem/engine/engine";
import type { CallFeed } from "@tandem/engine/postgres/read-offered-calls";
import { findOffered } from "@tandem/engine/queries/find-offered";
import { toFeedKey } from "@tandem/engine/queries/offered-calls-reader";
import { readCallNote, toAgentTopic, toToolTopic } from "@tandem/engine/wake/call-notes";
import { createWaiter, type WaitEnd, type Waiter } from "./waiter.ts";

/** One waiting feed. */
export interface FeedWaiter extends Waiter {
  /** Wakes it after so many milliseconds, in place of a moment that was set before; null: not by the clock. */
  wakeIn(delayMs: number | null): void;
}

/** The waiting feeds of one process. */
export interface FeedWaiters {
  /** Subscribes to a feed. Do this before reading it, so that nothing falls between. */
  wait(feed: CallFeed, timeoutMs: number): FeedWaiter;
  /** How many wait. */
  readonly size: number;
  /** Ends every wait with `shutdown`, now and from now on. */
  shutdown(): void;
}

interface Entry {
  feed: CallFeed;
  /** The agents whose calls it wants, as notes name them; null: any. */
  agents: ReadonlySet<string> | null;
  wake: () => void;
  end: (reason: WaitEnd) => void;
}

/**
 * Makes the registry. While somebody waits it looks, every `sweepMs` (default 5,000), at all waiting feeds with few
 * statements, so that a lost note costs one sweep at most. While nobody does, it hears nothing and asks nothing.
 */
export function createFeedWaiters(engine: Engine, { sweepMs = 5_000 } = {}): FeedWaiters {
  const entries = new Set<Entry>();
  const byTool = new Map<string, Set<Entry>>();
  let stops: (() => void)[] = [];
  let isShutDown = false;

  const hear = (text: string) => {
    const note = readCallNote(text);
    if (!note) return;
    for (const { agents, wake } of byTool.get(note.tool) ?? []) if (agents?.has(note.agent) ?? true) wake();
  };
  let isLooking = false;
  const look = async () => {
    // While the database takes longer than a sweep, looks do not pile up.
    if (isLooking) return;
    isLooking = true;
    const feeds = new Map([...entries].map(({ feed }) => [toFeedKey(feed), feed]));
    const offered = await findOffered(engine, [...feeds.values()]).catch((error: unknown) => {
      engine.log.debug({ err: error }, "waiting feeds could not be looked at");
      return [];
    });
    isLooking = false;
    const keys = new Set(offered.map(toFeedKey));
    if (keys.size > 0) for (const { feed, wake } of entries) if (keys.has(toFeedKey(feed))) wake();
  };
  const listen = () => {
    const timer = setInterval(() => void look(), sweepMs);
    timer.unref();
    stops = [engine.wake.receive(hear), engine.wake.onReopen(() => void look()), () => clearInterval(timer)];
  };
  const add = (entry: Entry) => {
    if (entries.size === 0) listen();
    entries.add(entry);
    for (const topic of toTopics(entry)) byTool.set(topic, (byTool.get(topic) ?? new Set()).add(entry));
  };
  const remove = (entry: Entry) => {
    entries.delete(entry);
    for (const topic of toTopics(entry)) {
      byTool.get(topic)?.delete(entry);
      if (byTool.get(topic)?.size === 0) byTool.delete(topic);
    }
    if (entries.size === 0) for (const stop of stops.splice(0)) stop();
  };

  return {
    get size() {
      return entries.size;
    },
    wait(feed, timeoutMs) {
      const waiter = createFeedWaiter(timeoutMs, () => remove(entry));
      const agents = feed.agentNames && new Set(feed.agentNames.map(toAgentTopic));
      const entry: Entry = { feed, agents, wake: waiter.wake, end: waiter.end };
      add(entry);
      if (isShutDown) waiter.end("shutdown");
      return waiter;
    },
    shutdown() {
      isShutDown = true;
      for (const entry of [...entries]) entry.end("shutdown");
    },
  };
}

function toTopics({ feed }: Entry): string[] {
  return feed.toolNames.map((name) => toToolTopic(feed.organizationId, name));
}

/** A waiter that can be woken by the clock too. */
function createFeedWaiter(timeoutMs: number, onEnd: () => void): FeedWaiter & { wake(): void } {
  let isOver = false;
  let lapse: NodeJS.Timeout | undefined;
  const waiter = createWaiter(timeoutMs, () => {
    isOver = true;
    clearTimeout(lapse);
    onEnd();
  });
  const wakeIn = (delayMs: number | null) => {
    clearTimeout(lapse);
    // A timer may fire a moment early, and the claim would hold still.
    if (delayMs !== null && !isOver) lapse = setTimeout(waiter.wake, Math.max(0, delayMs) + 2);
  };
  return Object.assign(waiter, { wakeIn });
}
