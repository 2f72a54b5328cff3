// What the figures were measured on.

import { execFileSync } from "node:child_process";
import { arch, cpus, platform, release, totalmem } from "node:os";

/** The machine and what runs on it. */
export interface Machine {
  cpus: number;
  cpu_model: string;
  memory_gib: number;
  kernel: string;
  node: string;
  postgres: string;
  /** Where the files of Postgres are: in memory a commit waits for nothing, which no other machine does. */
  storage: "disk" | "memory";
  /** Null when there is none: its figures are left out. */
  redis: string | null;
}

/** Looks at it. */
export function describeMachine(options: {
  postgres: { version: string; isInMemory: boolean };
  hasRedis: boolean;
}): Machine {
  const processors = cpus();
  return {
    cpus: processors.length,
    cpu_model: processors[0]?.model.trim() ?? "unknown",
    memory_gib: Math.round(totalmem() / 2 ** 30),
    kernel: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    postgres: options.postgres.version.split(" ")[0] ?? "unknown",
    storage: options.postgres.isInMemory ? "memory" : "disk",
    redis: options.hasRedis ? readRedisVersion() : null,
  };
}

function readRedisVersion(): string {
  const text = execFileSync("redis-server", ["--version"], { encoding: "utf8" });
  return /v=(\S+)/.exec(text)?.[1] ?? "unknown";
}

/** The machine in one line. */
export function toMachineLine(machine: Machine): string {
  return [
    `${machine.cpus} × ${machine.cpu_model}`,
    `${machine.memory_gib} GiB`,
    machine.kernel,
    `node ${machine.node}`,
    `Postgres ${machine.postgres} ${machine.storage === "disk" ? "on disk" : "IN MEMORY: COMMITS WAIT FOR NO DISK"}`,
    machine.redis === null ? "no Redis" : `Redis ${machine.redis}`,
  ].join(", ");
}
