// What is read when somebody asks: of the database and the queue with patience for a moment, of the process at once.
import { Gauge, type Registry } from "prom-client";
import type { PoolUse, QueueDepth, SessionLoad } from "../domain/load.ts";
import { isTerminal, SESSION_STATUSES } from "../domain/session-state.ts";
import { createReading } from "./reading.ts";

/** Where the figures come from. */
export interface LoadSources {
  readLoad(): Promise<SessionLoad>;
  readQueue(): Promise<QueueDepth>;
  readPool(): PoolUse;
}

/** Makes the gauges; the function that is returned brings them up to date. It never throws and takes a second at most. */
export function createLoadMetrics(registry: Registry, sources: LoadSources): () => Promise<void> {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const up = gauge("tandem_up", "1 when the part can be reached, else 0.", ["part"]);
  const sessions = gauge("tandem_sessions", "Sessions that have not ended, by state.", ["status"]);
  const lag = gauge("tandem_queue_lag_seconds", "How long the step that waits longest has been due.");
  const jobs = gauge("tandem_queue_jobs", "Jobs in the queue.", ["state"]);
  const connections = gauge("tandem_pool_connections", "Connections to the database.", ["state"]);
  const connectionsMax = gauge("tandem_pool_connections_max", "Most connections that the pool opens.");
  const waiting = gauge("tandem_pool_waiting", "Requests that wait for a connection.");
  const readLoad = createReading(sources.readLoad);
  const readQueue = createReading(sources.readQueue);

  const showLoad = (load: SessionLoad | null) => {
    up.set({ part: "database" }, load === null ? 0 : 1);
    // Figures of a database that is away are no figures: they go, so that nobody takes them for current ones.
    sessions.reset();
    lag.remove();
    if (load === null) return;
    for (const status of SESSION_STATUSES) if (!isTerminal(status)) sessions.set({ status }, 0);
    for (const { status, count } of load.sessions) sessions.set({ status }, count);
    lag.set(load.lagMs / 1_000);
  };
  const showQueue = (depth: QueueDepth | null) => {
    up.set({ part: "queue" }, depth === null ? 0 : 1);
    jobs.reset();
    for (const [state, count] of Object.entries(depth ?? {})) jobs.set({ state }, count);
  };
  const showPool = (use: PoolUse) => {
    connections.set({ state: "idle" }, use.idle);
    connections.set({ state: "active" }, use.active);
    connectionsMax.set(use.max);
    waiting.set(use.waiting);
  };
  return async () => {
    // Before our own question takes a connection.
    showPool(sources.readPool());
    const [load, depth] = await Promise.all([readLoad(), readQueue()]);
    showLoad(load);
    showQueue(depth);
  };
}
