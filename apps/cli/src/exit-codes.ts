// What the command's exit codes mean. Scripts rely on them: a code never changes its meaning.

/** The exit codes, as README's table tells them. */
export const exitCodes = {
  ok: 0,
  /** The session, the tool or a check failed, or something broke. */
  failed: 1,
  /** The command line, a file that it names, or a tool's arguments are wrong. */
  usage: 2,
  /** No server answers at the address. */
  unreachable: 3,
  /** The server answered, and refused: key, permission, unknown id, invalid body. */
  refused: 4,
  /** A call waits for an approval, and nobody is there to be asked. */
  approvalNeeded: 5,
  timeout: 124,
  interrupted: 130,
  terminated: 143,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A fault that is told in its own words, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A fault of the command line, or of a file that it names. */
export function usageError(message: string, options?: ErrorOptions): CliError {
  return new CliError(message, exitCodes.usage, options);
}
