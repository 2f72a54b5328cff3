// One run: the stage is opened, the wanted groups are measured one after the other, everything is closed.
import { hasRedis } from "../support/redis.ts";
import { type BenchOptions, isWanted } from "./arguments.ts";
import { type Closers, closeAll } from "./closers.ts";
import type { Figure } from "./figure.ts";
import type { Group } from "./group.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { readComplaints } from "./read-complaints.ts";
import { openStage } from "./stage.ts";

/** So many of the last complaints in the logs are told when something could not be measured. */
const COMPLAINTS = 20;

/** What a run gives. */
export interface BenchResult {
  machine: Machine;
  figures: Figure[];
}

/** A run that may be given up. */
export interface BenchRun {
  /** Rejects when something could not be measured. */
  result: Promise<BenchResult>;
  /** Gives it up: closes whatever is open. */
  close(): Promise<void>;
}

/** Measures. `tell` takes the progress, a line each. */
export function runBench(
  options: Pick<BenchOptions, "only" | "rounds" | "quick"> & {
    groups: readonly Group[];
    tell: (line: string) => void;
  },
): BenchRun {
  const ofStage: Closers = [];
  const ofGroup: Closers = [];
  // One after the other: what a signal closes in the midst of a group's own end must wait for it.
  let groupClosed = Promise.resolve();
  const closeGroup = () => {
    groupClosed = groupClosed.then(() => closeAll(ofGroup));
    return groupClosed;
  };
  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= closeGroup().then(() => closeAll(ofStage));
    return closed;
  };
  const isClosing = () => closed !== null;
  return { result: measure(options, { ofStage, ofGroup, closeGroup, isClosing }).finally(close), close };
}

async function measure(
  options: Parameters<typeof runBench>[0],
  {
    ofStage,
    ofGroup,
    ...end
  }: {
    ofStage: Closers;
    ofGroup: Closers;
    closeGroup: () => Promise<void>;
    isClosing: () => boolean;
  },
): Promise<BenchResult> {
  const { only, rounds, quick, tell } = options;
  const wants = (name: string) => isWanted(name, only);
  const groups = options.groups.filter(({ names }) => names.some(wants));
  const stage = await openStage(ofStage);
  const machine = describeMachine({ postgres: stage.postgres, hasRedis });
  const figures: Figure[] = [];
  for (const group of groups) {
    const reason = findReasonToLeaveOut(group, options);
    if (reason !== null) {
      tell(`LEFT OUT, ${reason}: ${group.names.filter(wants).join(", ")}`);
      continue;
    }
    const measured = await group
      .measure({ stage, rounds, quick, wants, closers: ofGroup, tell })
      .catch((error: unknown) => {
        const complaints = end.isClosing() ? [] : readComplaints(stage.folder).slice(-COMPLAINTS);
        for (const { log, line } of complaints) tell(`${log}: ${line}`);
        throw error;
      })
      .finally(end.closeGroup);
    figures.push(...measured.filter(({ name }) => wants(name)));
  }
  return { machine, figures };
}

function findReasonToLeaveOut(
  group: Group,
  { quick, only }: Pick<BenchOptions, "quick" | "only">,
): string | null {
  if (group.needsRedis && !hasRedis) return "since redis-server is not on the PATH";
  if (group.isLong && quick && only.length === 0) return "since it takes long and the run is quick";
  return null;
}
