// One load of whole sessions on a stack: what comes through in a window, and what it costs.

import { playSession } from "./play-session.ts";
import { playWindow } from "./play-window.ts";
import { createSdkPlayer } from "./play-with-sdk.ts";
import { hasProc } from "./proc.ts";
import { createSamples, type Samples } from "./samples.ts";
import { readStackCpuMs, readWrittenCommits } from "./session-cost.ts";
import type { Stack } from "./stack.ts";
import type { Stage } from "./stage.ts";

/** One way to load a stack. */
export interface Load {
  /** Sessions under way at once. */
  concurrency: number;
  workers: 1 | 2;
  /** True when the SDK is the client. */
  isSdk?: boolean;
}

/** What was seen of a load: a rate and costs for each window, a latency for each session. */
export interface Seen {
  /** Sessions per second. */
  rates: Samples;
  /** Milliseconds. */
  latencies: Samples;
  /** CPU seconds per session; none where there is no /proc. */
  cpu: Samples;
  /** Per session. */
  writtenCommits: Samples;
}

const WARM_UP_MS = 500;
const WINDOW_MS = 3_000;
const SHORT_WINDOW_MS = 800;
/** Many at once end in waves, which a short window would count by chance: so many waves are seen. */
const WAVES = 3;
/** A session takes few milliseconds of CPU: told to a millionth of a second. */
const CPU_PARTS = 1_000_000;

/** Starts with nothing seen. */
export const createSeen = (): Seen => ({
  rates: createSamples(),
  latencies: createSamples(),
  cpu: createSamples(CPU_PARTS),
  writtenCommits: createSamples(),
});

/** Loads the stack once; gives how many sessions were played. */
export async function measureLoad(options: {
  stage: Stage;
  stack: Stack;
  load: Load;
  into: Seen;
  /** Tells the sessions of this window from others. */
  round: number;
  isShort: boolean;
}): Promise<number> {
  const { stage, stack, load, into, round, isShort } = options;
  const { concurrency, workers, isSdk = false } = load;
  const key = `${concurrency}.w${workers}.${isSdk ? "sdk." : ""}${round}`;
  const readCost = async () => ({
    cpuMs: readStackCpuMs(stage, stack),
    written: await readWrittenCommits(stack),
  });
  const playWithSdk = createSdkPlayer(stack);
  const costs: Awaited<ReturnType<typeof readCost>>[] = [];
  const { latenciesMs, seconds, played } = await playWindow({
    concurrency,
    warmUpMs: WARM_UP_MS,
    windowMs: isShort ? SHORT_WINDOW_MS : WINDOW_MS,
    minSessions: (isShort ? 1 : WAVES) * concurrency,
    play: (number) => {
      const plan = { key: `${key}.${number}`, steps: 1 };
      return isSdk ? playWithSdk(plan) : playSession(stack.api, plan);
    },
    onEdge: async () => void costs.push(await readCost()),
  });
  // Nobody asks for these; the model need not keep them.
  await stage.model.takeArrivals();
  const [before, after] = costs;
  if (!before || !after) throw new Error("A window was not seen from edge to edge");
  const count = latenciesMs.length;
  into.rates.add(count / seconds);
  latenciesMs.forEach(into.latencies.add);
  if (hasProc) into.cpu.add((after.cpuMs - before.cpuMs) / 1_000 / count);
  into.writtenCommits.add((after.written - before.written) / count);
  return played;
}
