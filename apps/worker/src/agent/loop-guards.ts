// Guards against a session that goes round in circles: looked at before each model request, on what the history says
// since the last message. Pure.
import type { StoredEvent } from "@tandem/engine/domain/events";
import { type JsonObject, toCanonicalJson } from "@tandem/engine/domain/json";
import type { EndReason } from "@tandem/engine/domain/session-end";

/** The limits of a session. Null is none. */
export interface LoopLimits {
  /** In how many turns in a row the same calls may be made, or in how many rounds of two or three turns. */
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

/** The longest round that counts as going in circles: one turn with the same calls, or two or three that alternate. */
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
  const repeats =
    repeatLimit === null
      ? 0
      : countRounds(
          task.flatMap((event) => toCallsText(event) ?? []),
          repeatLimit,
        );
  if (repeatLimit !== null && repeats >= repeatLimit) {
    return {
      error: `The same calls were made ${repeats} times in a row; the session's repeat_limit is ${repeatLimit}.`,
      reason: "repeat_limit",
    };
  }
  return null;
}

/** The calls of a turn as a text that turns with equal calls share; undefined for a turn without calls. */
function toCallsText({ data }: StoredEvent): string | undefined {
  if (data.kind !== "policy_event") return undefined;
  const calls = (data.tool_reqs as JsonObject[]).map((call) =>
    toCanonicalJson([call.tool_name ?? null, call.args ?? null]),
  );
  return calls.length === 0 ? undefined : [...new Set(calls)].sort().join("\n");
}

/** How many times in a row the latest round of turns was taken: a round is one turn, or a few that alternate. */
function countRounds(turns: readonly string[], limit: number): number {
  if (turns.length === 0) return 0;
  let most = 1;
  for (let length = 1; length <= LONGEST_ROUND; length++) {
    let same = 0;
    while (same < Math.min(limit * length, turns.length - length)) {
      if (turns.at(-1 - same) !== turns.at(-1 - same - length)) break;
      same++;
    }
    most = Math.max(most, Math.floor(same / length) + 1);
  }
  return most;
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

/**
 * The error of a call, whatever origin its caller gave it, or of a reply. What is said of failed model requests and
 * missing environments is neither.
 */
function isError(data: JsonObject): boolean {
  if (data.kind !== "error_event") return false;
  return data.tool_req !== null || (data.origin !== "model" && data.origin !== "environment");
}
