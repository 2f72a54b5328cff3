// The process itself, under the names that are usual for Node. prom-client has such metrics too: each set of them keeps
// a timer and a garbage collection observer that nobody can stop, and a process may open and close many engines.
import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "prom-client";

/** How closely the event loop is watched, in milliseconds. */
const RESOLUTION_MS = 20;

/** The metrics of the process. */
export interface ProcessMetrics {
  /** Brings them up to date. */
  update(): Promise<void>;
  /** Watches no more. */
  close(): void;
}

/** Makes the metrics. */
export function createProcessMetrics(registry: Registry): ProcessMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const cpu = new Counter({ name: "process_cpu_seconds_total", help: "CPU time.", registers });
  const startTime = gauge("process_start_time_seconds", "When the process started, since 1970.");
  const resident = gauge("process_resident_memory_bytes", "Memory of the process.");
  const heapUsed = gauge("nodejs_heap_size_used_bytes", "Memory of JavaScript objects.");
  const heapTotal = gauge("nodejs_heap_size_total_bytes", "Memory set apart for JavaScript objects.");
  const external = gauge("nodejs_external_memory_bytes", "Memory of buffers and the like.");
  const files = gauge("process_open_fds", "Open files and sockets; on Linux alone.");
  const lagMedian = gauge(
    "nodejs_eventloop_lag_p50_seconds",
    "Event loop delay since the last look: median.",
  );
  const lagMost = gauge("nodejs_eventloop_lag_p99_seconds", "The same: 99th percentile.");
  const lagMax = gauge("nodejs_eventloop_lag_max_seconds", "The same: the longest.");
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  startTime.set(Math.round(performance.timeOrigin / 1_000));
  return {
    async update() {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
      const memory = process.memoryUsage();
      resident.set(memory.rss);
      heapUsed.set(memory.heapUsed);
      heapTotal.set(memory.heapTotal);
      external.set(memory.external);
      // Node measures from one look at the loop to the next, which is the resolution when nothing holds it up.
      const toSeconds = (ns: number) => Math.max(0, ns / 1e9 - RESOLUTION_MS / 1_000);
      lagMedian.set(toSeconds(delay.percentile(50)));
      lagMost.set(toSeconds(delay.percentile(99)));
      lagMax.set(delay.count === 0 ? 0 : toSeconds(delay.max));
      delay.reset();
      const open = await readdir("/proc/self/fd").catch(() => null);
      if (open === null) files.remove();
      else files.set(open.length);
    },
    close() {
      delay.disable();
    },
  };
}
