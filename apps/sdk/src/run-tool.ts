// A tool's function, run to its end: a promise is awaited, a generator is read.
import { openAbortScope, untilAborted } from "./abort-scope.ts";
import type { Tool, ToolContext } from "./tool.ts";

/**
 * Runs a tool's function. A generator's values are shown as progress; its result is what it returns, or the last value
 * that it yields. It is closed when `signal` is aborted.
 *
 * @throws what the function throws, and an error after the tool's `timeoutMs`
 */
export async function runTool(tool: Tool, args: unknown, context: ToolContext): Promise<unknown> {
  const { timeoutMs, onTimeout } = tool;
  context.signal.throwIfAborted();
  const scope = openAbortScope({ parent: context.signal });
  // Only its own time ends a call here: one that goes on after its abort may still come to a result, which counts.
  const clock = openAbortScope({
    // A call that must not be late is the server's to end: it ends the session.
    timeoutMs: onTimeout === "fail" ? undefined : timeoutMs,
    timeoutError: () => new Error(`The tool took longer than ${timeoutMs} ms`),
  });
  clock.signal.addEventListener("abort", () => scope.abort(clock.signal.reason));
  // A function that does not heed its abort must not keep a program from its end.
  scope.signal.addEventListener("abort", clock.unref);
  try {
    const inner = { ...context, signal: scope.signal };
    const value = await untilAborted(tool.fn(args, inner), clock.signal);
    return isAsyncIterable(value) ? await readToEnd(value[Symbol.asyncIterator](), inner) : value;
  } finally {
    clock.release();
    scope.release();
  }
}

async function readToEnd(
  iterator: AsyncIterator<unknown>,
  { signal, progress }: ToolContext,
): Promise<unknown> {
  let last: unknown;
  try {
    for (;;) {
      const { done, value } = await untilAborted(iterator.next(), signal);
      if (done) return value === undefined ? last : value;
      last = value;
      await untilAborted(progress(value), signal);
    }
  } catch (error) {
    // Not awaited: one that does not heed the signal closes when it comes to its next `yield`.
    iterator.return?.().catch(() => {});
    throw error;
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof Object(value)[Symbol.asyncIterator] === "function";
}
