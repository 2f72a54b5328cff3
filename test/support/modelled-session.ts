// A session in the words of the design's table, as the model of the random tests has it. Times are in seconds on a clock
// of its own.
import type { Toolset } from "./walk-tools.ts";

export type Live = "queued" | "pending" | "running" | "awaiting_tool_results" | "awaiting_approval" | "idle";
export type End = "completed" | "failed" | "timed_out" | "interrupted";
export type ModelStatus = Live | "paused" | End;

export type Decision = "allow" | "deny";

/** A call that somebody was asked about; one that was refused at once is none. */
export interface ModelCall {
  tool: string;
  args: string;
  state: "awaiting_approval" | "pending" | "answered" | "denied" | "timed_out" | "withdrawn";
  /** What was posted for it, the first time. */
  value: string | null;
  deadline: number | null;
  /** What was agreed when it was asked for. */
  timeoutS: number | null;
  isFatal: boolean;
  onNobody: Decision;
  /** What was decided, in full; `nobody` when its time decided. */
  decided: string | null;
  claimant: string | null;
  claimedUntil: number | null;
}

export interface ModelSession {
  status: ModelStatus;
  under: Live | null;
  pauseRequested: boolean;
  lastStep: "force_answer" | "max_time" | null;
  /** Which of its claims, by number, may still write. */
  holder: number | null;
  claims: number;
  /** Claims of the step that is due. */
  tries: number;
  leaseUntil: number;
  /** Why the claimed step is the last one, as its worker knows it. */
  toldLast: string | null;
  /** The tools that the claimed step is offered. */
  toldTools: Toolset;
  dueAt: number | null;
  /** When the step is due that a pause holds up. */
  heldDueAt: number | null;
  queuedAt: number | null;
  idleUntil: number | null;
  limitAt: number | null;
  left: number | null;
  reason: string | null;
  calls: ModelCall[];
  tools: Toolset;
  /** Decisions that count for all calls of a tool. */
  remembered: Record<string, Decision>;
  waiting: number;
  runSteps: number;
  nudges: number;
  useless: number;
  options: SessionOptions;
}

export interface SessionOptions {
  idle: number | null;
  maxTime: number | null;
  maxSteps: number | null;
  queue: boolean;
}

/** Calls come with a word beside them. */
export type ModelReply = { calls: { tool: string; args: string }[] } | "answer" | "silence" | "nonsense";

/** A posted result: which call by its place, or by name and arguments alone. */
export interface Posted {
  call: number | null;
  by: "id" | "arguments";
  isMisnamed: boolean;
  value: string;
}

/** A posted decision: which call by its place, and what is decided. */
export interface Decided {
  call: number | null;
  decision: Decision;
  message: string | null;
  args: string | null;
  remember: boolean;
}

/** What a command must come to. `isSilent`: nothing is written. */
export interface Expected {
  error?: string;
  isSilent?: boolean;
  result?: unknown;
}

export const SILENT: Expected = { isSilent: true };
export const FINISHED: Expected = { isSilent: true, error: "session_finished" };

export const isEnd = (status: ModelStatus) =>
  ["completed", "failed", "timed_out", "interrupted"].includes(status);

export const isOpen = ({ state }: ModelCall) => state === "pending" || state === "awaiting_approval";

/** The places of the calls in a state. */
export const placesOf = (calls: readonly ModelCall[], state: ModelCall["state"]) =>
  calls.flatMap((call, place) => (call.state === state ? [place] : []));

/** A session that nothing has happened to. */
export function newSession(options: SessionOptions): ModelSession {
  return {
    ...{
      status: "pending",
      under: null,
      pauseRequested: false,
      lastStep: null,
      holder: null,
      claims: 0,
      tries: 0,
    },
    ...{ leaseUntil: 0, toldLast: null, toldTools: "first", dueAt: null, heldDueAt: null, queuedAt: null },
    ...{ idleUntil: null, limitAt: null, left: options.maxTime, reason: null, calls: [], tools: "first" },
    ...{ remembered: {}, waiting: 1, runSteps: 0, nudges: 0, useless: 0, options },
  };
}
