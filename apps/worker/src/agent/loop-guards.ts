// Guards against a session that goes round in circles: looked at before each model request, on what the history says
// since the last message. Pure.
import type { StoredEvent } from "@tandem/engine/domain/events";
import { type JsonObject, toCanonicalJson } from "@tandem/engine/domain/json";
import type { EndReason } from "@tandem/engine/domain/session-end";

/** The limits of a session. Null is none. */
export interface LoopLimits {
  /** How often in a row a call with the same arguments may be made, or a short round of such calls. */
  repeatLimit: number | null;
  /** How often in a row the same error may come back. */
  errorLimit: number | null;
  /** Tokens that one run may use, input and output together. */
  tokenBudget: number | null;
}

/** Why no further model request is made. */
export interface GuardStop {
  error: string;
  reason: EndReason;
}

/** The longest round of calls that counts as going in circles: one call, or two or three that take turns. */
const LONGEST_ROUND = 3;

/** The limit that a session has reached; null when it may go on. */
export function findReachedLimit(
  events: readonly StoredEvent[],
  limits: LoopLimits & { runTokens: number },
): GuardStop | null {
  const { repeatLimit, errorLimit, tokenBudget, runTokens } = limits;
  if (tokenBudget !== null && runTokens >= tokenBudget) {
    return {
      error: `The session has used ${runTokens} tokens; its token_budget is ${tokenBudget}.`,
      reason: "token_budget",
    };
  }
  const task = events.slice(events.findLastIndex(({ data }) => data.kind === "message_event") + 1);
  const errors = errorLimit === null ? 0 : countLastErrors(task);
  if (errorLimit !== null && errors >= errorLimit) {
    return {
      error: `The same error came back ${errors} times in a row; the session's error_limit is ${errorLimit}.`,
      reason: "error_limit",
    };
  }
  const repeats = repeatLimit === null ? 0 : countRounds(task.flatMap(listCalls), repeatLimit);
  if (repeatLimit !== null && repeats >= repeatLimit) {
    return {
      error: `The same calls were made ${repeats} times in a row; the session's repeat_limit is ${repeatLimit}.`,
      reason: "repeat_limit",
    };
  }
  return null;
}

/** The calls of a turn, each as a text that equal calls share. */
function listCalls({ data }: StoredEvent): string[] {
  if (data.kind !== "policy_event") return [];
  return (data.tool_reqs as JsonObject[]).map((call) =>
    toCanonicalJson([call.tool_name ?? null, call.args ?? null]),
  );
}

/** How many times in a row the latest round of calls was made: a round is one call, or a few that take turns. */
function countRounds(calls: readonly string[], limit: number): number {
  let most = 0;
  for (let length = 1; length <= LONGEST_ROUND; length++) {
    let same = 0;
    while (same < Math.min(limit * length, calls.length - length)) {
      if (calls.at(-1 - same) !== calls.at(-1 - same - length)) break;
      same++;
    }
    most = Math.max(most, Math.floor(same / length) + 1);
  }
  return calls.length === 0 ? 0 : most;
}

/** How many of the latest turns in a row came to nothing but the same error. */
function countLastErrors(events: readonly StoredEvent[]): number {
  const turns = events.reduce<StoredEvent[][]>((all, event) => {
    if (event.data.kind === "policy_event") all.push([]);
    else all.at(-1)?.push(event);
    return all;
  }, []);
  const errors = turns.map(findOnlyError);
  const last = errors.at(-1);
  if (last === undefined) return 0;
  return errors.length - 1 - errors.findLastIndex((error) => error !== last);
}

/** The error of a turn whose results are all that error. */
function findOnlyError(turn: readonly StoredEvent[]): string | undefined {
  const results = turn.filter(({ data }) => data.kind === "tool_result" || isError(data));
  const errors = new Set(results.map(({ data }) => (isError(data) ? String(data.error) : undefined)));
  return errors.size === 1 ? [...errors][0] : undefined;
}

/** What is said of failed model requests and missing environments is no result. */
function isError(data: JsonObject): boolean {
  return data.kind === "error_event" && data.origin !== "model" && data.origin !== "environment";
}
