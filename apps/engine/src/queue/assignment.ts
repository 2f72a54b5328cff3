// A step that was claimed for a worker by whoever made it due, in the same commit: the worker need not claim it.
import type { DueStep } from "../postgres/leases.ts";

/** A step that a worker holds from the moment at which it is due. */
export interface Assignment {
  sessionId: string;
  /** The token of its claim. */
  fence: number;
  /** What a worker must be told that knows the session so far; empty when that is much: it reads all of it. */
  news: string;
}

/** One or more workers that can be given a step. Every place that was reserved is used or released. */
export interface Place {
  /** What the step's claim says: whose it is, and that one of the preferred workers keeps its session. */
  claim: { worker: string; preferred: readonly string[]; leaseMs: number };
  /** Gives a worker the step, which is claimed for it. It is taken back when the worker does not take it up. */
  give(assignment: Assignment, worker: string): void;
  /** Nothing was claimed, or it is left to the sweep. */
  release(): void;
  /** Nobody knows whether the step was claimed, for the connection broke: it is taken back if it was. */
  abandon(step: DueStep): void;
}

/**
 * How soon a worker prolongs the lease of a step that it was given, in milliseconds. A step that is over by then costs
 * no write more than its effects.
 */
export const TAKE_UP_MS = 500;

/**
 * How long a step is held at most for a worker that has not taken it up, in milliseconds: whoever has given it may die
 * before it could tell.
 */
export const GIVEN_LEASE_MS = 5_000;

/** How long whoever has given a step away waits for a sign that it was taken up, in milliseconds. */
export const TAKE_BACK_MS = 2_000;

/** The note that gives a worker of another process a step. */
export function toTakeNote(consumer: string, { sessionId, fence, news }: Assignment): string {
  return ["take", consumer, sessionId, fence, Buffer.from(news).toString("base64url")].join(".");
}

/** The step that such a note gives. */
export function readTakeNote(note: string): Assignment {
  const [, , sessionId = "", fence, news = ""] = note.split(".");
  return { sessionId, fence: Number(fence), news: Buffer.from(news, "base64url").toString() };
}
