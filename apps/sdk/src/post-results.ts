// Posting results, and what each of the server's answers to them means.
import { type PostedResult, toErrorEntry } from "./call-tool.ts";
import { APIError } from "./errors.ts";
import type { ToolResultBatch, ToolResultEvent } from "./generated/types.gen.ts";

/** Sends one body of results. */
export type PostBody = (body: PostedResult | ToolResultBatch) => Promise<unknown>;

/**
 * Posts results: one bare, several as a batch. Resolves when every call of them is settled, by whomever: a session that
 * has ended, a call that was withdrawn, and another client's answer are all fine.
 *
 * @throws {TandemError} when the server could not take them; the same results can be posted again
 */
export async function postResults(post: PostBody, results: readonly PostedResult[]): Promise<void> {
  const [first, ...others] = results;
  if (!first) return;
  try {
    await post(others.length === 0 ? first : { type: "batch", results: [...results] });
  } catch (error) {
    if (isSettledElsewhere(error)) return;
    if (!isRefusal(error)) throw error;
    if (others.length === 0) return postRefusal(post, first, error);
    // A body is refused as a whole; one by one, only the entry at fault is.
    for (const result of results) await postResults(post, [result]);
  }
}

/** Tells the model why it gets no result, so that a value which the server cannot take does not end the session. */
async function postRefusal(post: PostBody, result: PostedResult, error: APIError): Promise<void> {
  if (!isToolResult(result)) throw error;
  await postResults(post, [toErrorEntry(result.tool_req, `The tool's result was refused: ${error.message}`)]);
}

function isToolResult(result: PostedResult): result is PostedResult & ToolResultEvent {
  return result.kind === "tool_result";
}

function isSettledElsewhere(error: unknown): boolean {
  if (!(error instanceof APIError)) return false;
  return error.status === 409 || (error.status === 404 && error.code === "calls_unknown");
}

/** The body is too large, or not of the form that the server takes. */
function isRefusal(error: unknown): error is APIError {
  return error instanceof APIError && (error.status === 413 || error.status === 422);
}
