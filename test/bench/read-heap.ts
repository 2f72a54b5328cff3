// What a process of ours has in use, without its garbage.
import { waitFor } from "../support/wait-for.ts";
import type { Program } from "./program.ts";

/** What a process has in use after its garbage is collected, in KiB. It must have loaded `collect-garbage.ts`. */
export async function readHeapKib(program: Program): Promise<number> {
  const told = () => [...program.readLog().matchAll(/"in_use":(\d+)/g)];
  const count = told().length;
  process.kill(program.pid, "SIGUSR2");
  const bytes = await waitFor(() => told()[count]?.[1], { what: `${program.name} to collect its garbage` });
  return Number(bytes) / 1_024;
}
