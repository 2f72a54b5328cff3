// What Linux tells of processes under /proc. Elsewhere nothing is told, and figures that need it are left out.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export const hasProc = existsSync("/proc/self/stat");

/** What /proc tells the time in: a hundredth of a second on every Linux that Node runs on. */
const TICK_MS = 10;

/** Some fields of a process. */
interface ProcessStat {
  parent: number;
  /** CPU time of its own, in milliseconds. */
  ownMs: number;
  /** CPU time of children of its that have ended, in milliseconds. */
  childrenMs: number;
}

function readStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may hold anything; what follows is numbers.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (number: number) => Number(fields[number - 3]);
    return {
      parent: field(4),
      ownMs: (field(14) + field(15)) * TICK_MS,
      childrenMs: (field(16) + field(17)) * TICK_MS,
    };
  } catch {
    return null;
  }
}

/** CPU time that processes have used so far, user and system, in milliseconds. */
export function readCpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (readStat(pid)?.ownMs ?? 0), 0);
}

/** The same of a server that forks: its children that run and those that have ended count too. */
export function readForkingCpuMs(pid: number): number {
  const stat = readStat(pid);
  if (stat === null) return 0;
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((child) => child?.parent === pid);
  return stat.ownMs + stat.childrenMs + children.reduce((sum, child) => sum + (child?.ownMs ?? 0), 0);
}

/** Memory of a process that is in RAM, in KiB. */
export function readResidentKib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}

/** How many files and sockets a process has open. */
export const countHandles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** The most files and sockets that a process of this user may have open. Node raises itself to it when it starts. */
export function readHandleLimit(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const [, hard = "0"] = /^Max open files\s+\S+\s+(\S+)/m.exec(limits) ?? [];
  return hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
}

/** Below this part of one CPU a process counts as idle. */
const IDLE_PART = 0.2;
const LOOK_MS = 300;
const LONGEST_MS = 60_000;

/** Waits until processes have as good as nothing to do: what was asked of them is done. */
export async function untilIdle(pids: readonly number[]): Promise<void> {
  if (!hasProc) return delay(5_000);
  const deadline = performance.now() + LONGEST_MS;
  for (;;) {
    const before = readCpuMs(pids);
    await delay(LOOK_MS);
    if (readCpuMs(pids) - before < IDLE_PART * LOOK_MS) return;
    if (performance.now() > deadline) throw new Error(`Processes ${pids} did not come to rest`);
  }
}
