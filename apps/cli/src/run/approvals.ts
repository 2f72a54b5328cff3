// Answering what needs a permission: the person at the terminal, or the flag for all.
import type { PermissionDecision, PermissionRequest } from "@tandem/sdk";
import { CliError, exitCodes } from "../exit-codes.ts";
import { ask, type Conversation } from "../terminal/ask.ts";
import { toHarmlessJson, toHarmlessLine } from "../terminal/harmless.ts";
import type { Paint } from "../terminal/paint.ts";
import type { StatusLine } from "../terminal/status-line.ts";

/** Who decides. */
export type ApprovalMode = "ask" | "all" | "none";

/** What {@link createDecider} needs. */
export interface DeciderOptions {
  mode: ApprovalMode;
  /** Where to ask; null when nobody is there. */
  conversation: Conversation | null;
  status: StatusLine;
  paint: Paint;
  /** Called when nobody can decide: the run is to be ended. */
  onNobody(error: CliError): void;
}

/** What a typed line says. */
type Decision = Exclude<PermissionDecision, string>;

const DENIED = "The user allows no such calls.";

/** Makes what decides on each request. Questions are put one after the other; other calls go on meanwhile. */
export function createDecider(
  options: DeciderOptions,
): (request: PermissionRequest) => Promise<PermissionDecision> {
  /** Tools that the person allows for the rest of the run. The server remembers its own requests, not those of tools. */
  const allowed = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();

  const decide = async (request: PermissionRequest): Promise<PermissionDecision> => {
    request.signal.throwIfAborted();
    if (allowed.has(request.call.tool_name)) return "allow";
    const decision = await askPerson(request, options);
    if (decision.decision === "allow" && decision.remember) allowed.add(request.call.tool_name);
    return decision;
  };
  return (request) => {
    if (options.mode === "all") return Promise.resolve("allow");
    if (options.mode === "none") return Promise.resolve({ decision: "deny", message: DENIED });
    const decision = last.then(() => decide(request));
    last = decision.catch(() => undefined);
    return decision;
  };
}

async function askPerson(
  request: PermissionRequest,
  { conversation, status, paint, onNobody }: DeciderOptions,
): Promise<Decision> {
  const release = status.hold();
  try {
    while (conversation) {
      const line = await ask(toQuestion(request, paint), conversation, request.signal);
      if (line === null) break;
      const decision = readDecision(line);
      if (decision) return decision;
    }
  } finally {
    release();
  }
  onNobody(nobodyAsked(request));
  // The run is being ended, which withdraws the request.
  return new Promise<never>((_, reject) => {
    const { signal } = request;
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** The whole call is shown, and every character of it: what is not seen is not approved. */
export function toQuestion({ call, args, reason }: PermissionRequest, paint: Paint): string {
  const why = { tool: "its definition asks for it", actuator: "it acts", agent: "the agent asks for it" };
  const known = reason === null ? "its code asks for it" : (why[reason as keyof typeof why] ?? reason);
  return [
    `${paint("yellow", "?")} Allow ${paint("bold", toHarmlessLine(call.tool_name))}? (${toHarmlessLine(known)})`,
    toHarmlessJson(args, 2).replaceAll(/^/gm, "    "),
    `  y: yes   a: yes, and all later calls of it   n [reason]: no ${paint("bold", ">")} `,
  ].join("\n");
}

/** What a typed line decides; null when it says neither. */
export function readDecision(line: string): Decision | null {
  const [, word = "", reason = ""] = /^\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  if (/^(?:y|yes)$/i.test(word)) return { decision: "allow" };
  if (/^(?:a|all|always)$/i.test(word)) return { decision: "allow", remember: "session" };
  if (!/^(?:n|no)$/i.test(word)) return null;
  return reason === "" ? { decision: "deny" } : { decision: "deny", message: reason };
}

function nobodyAsked({ call }: PermissionRequest): CliError {
  const text = `A call of ${toHarmlessLine(call.tool_name)} needs an approval, and nobody is there to be asked:`;
  return new CliError(
    `${text} decide beforehand with --approve all or --approve none.`,
    exitCodes.approvalNeeded,
  );
}
