// From an error to what a person is told, and the exit code.
import { TandemError as EngineError } from "@tandem/engine/domain/errors";
import { SettingsError } from "@tandem/engine/domain/settings";
import { APIError, ConnectionError, TandemError, TimeoutError } from "@tandem/sdk";
import { CliError, type ExitCode, exitCodes } from "./exit-codes.ts";
import { StuckError } from "./stray-ends.ts";
import { toHarmless } from "./terminal/harmless.ts";

/** What is written on standard error, and the code to exit with. */
export interface Explanation {
  text: string;
  exitCode: ExitCode;
}

/** Explains any error, without what a terminal would obey. One that is not foreseen is told with its stack. */
export function explainError(error: unknown): Explanation {
  const { text, exitCode } = explain(error);
  return { text: toHarmless(text), exitCode };
}

function explain(error: unknown): Explanation {
  if (error instanceof CliError) return { text: error.message, exitCode: error.exitCode };
  if (error instanceof APIError) return explainRefusal(error);
  if (error instanceof ConnectionError) return explainConnection(error);
  if (error instanceof TimeoutError) {
    const exitCode = error.sessionId === null ? exitCodes.unreachable : exitCodes.timeout;
    return { text: error.message, exitCode };
  }
  const isTold = [TandemError, EngineError, SettingsError, StuckError].some((kind) => error instanceof kind);
  const { message, stack } = Object(error) as Partial<Error>;
  return { text: (isTold ? message : stack) ?? String(error), exitCode: exitCodes.failed };
}

/** What a server that is down or being restarted answers, or the proxy before it. */
const AWAY = [408, 502, 503, 504];

function explainRefusal(error: APIError): Explanation {
  if (AWAY.includes(error.status)) return { text: error.message, exitCode: exitCodes.unreachable };
  const hint =
    error.status === 401
      ? "\nGive a key with --api-key or TANDEM_API_KEY; `tandem keys create` makes one."
      : "";
  const exitCode = error.status >= 400 && error.status < 500 ? exitCodes.refused : exitCodes.failed;
  return { text: `${error.message}${hint}`, exitCode };
}

function explainConnection(error: ConnectionError): Explanation {
  const hint =
    "Is a server running there? `npx tandem up` starts one here; --base-url or TANDEM_BASE_URL names another.";
  return { text: `${error.message}\n${hint}`, exitCode: exitCodes.unreachable };
}
