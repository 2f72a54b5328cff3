// Tests and benchmarks leave no Redis behind, whatever ends them.
import { expect, it } from "vitest";
import { isProcessAlive } from "../../apps/standalone/src/embedded-postgres/is-process-alive.ts";
import { startProcess } from "../support/processes.ts";
import { hasRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait-for.ts";

it.runIf(hasRedis).each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "a Redis ends with the process that started it, when %s ends that",
  async (signal) => {
    const holder = startProcess({ entry: "test/support/hold-redis.ts" });
    const [, pid] = await holder.waitForLine(/redis-server is (\d+)/);
    expect(isProcessAlive(Number(pid))).toBe(true);
    holder.kill(signal);
    await holder.exited;
    await waitFor(() => !isProcessAlive(Number(pid)), { what: "the Redis to end" });
  },
);
