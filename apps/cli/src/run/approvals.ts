// Answering what waits for an approval. The one place that knows how the server is told.
import {
  APIError,
  type PendingApproval,
  type SessionEvent,
  type SessionHandle,
  type TandemClient,
} from "@tandem/sdk";
import { CliError, exitCodes } from "../exit-codes.ts";
import { ask, type Conversation } from "../terminal/ask.ts";
import { toHarmlessJson, toHarmlessLine } from "../terminal/harmless.ts";
import type { Paint } from "../terminal/paint.ts";
import type { StatusLine } from "../terminal/status-line.ts";

/** Who decides: the person at the terminal, or the flag for all. */
export type ApprovalMode = "ask" | "all" | "none";

/** What {@link createApprover} needs. */
export interface ApproverOptions {
  client: TandemClient;
  session: SessionHandle;
  mode: ApprovalMode;
  /** Where to ask; null when nobody is there. */
  conversation: Conversation | null;
  status: StatusLine;
  paint: Paint;
  /** Called when nobody can decide, or a decision could not be told. */
  onFailure(error: unknown): void;
}

/** Decides on each call that waits for it, one after the other. */
export interface Approver {
  /** Takes over the latest list of what waits; a question about a call that has gone is withdrawn. */
  follow(event: SessionEvent): void;
  close(): void;
}

interface Decision {
  decision: "allow" | "deny";
  message?: string;
  remember?: "session";
}

/** Makes one. Deciding happens beside the reading of events, so that other calls go on meanwhile. */
export function createApprover(options: ApproverOptions): Approver {
  const open = new Map<string, AbortController>();
  let last: Promise<void> = Promise.resolve();

  const decide = async (approval: PendingApproval, { signal }: AbortController) => {
    if (signal.aborted) return;
    const decision = await findDecision(approval, options, signal);
    await tell(options, approval, decision);
  };
  return {
    follow(event) {
      if (event.type === "AgentCompletionEvent" || event.type === "AgentErrorEvent") withdraw(open, []);
      if (event.type !== "ActiveStateChangeEvent") return;
      const pending = event.data.pending_approvals ?? [];
      withdraw(open, pending);
      for (const approval of pending.filter(({ id }) => !open.has(id))) {
        const controller = new AbortController();
        open.set(approval.id, controller);
        last = last
          .then(() => decide(approval, controller))
          .catch((error: unknown) => {
            if (!controller.signal.aborted) options.onFailure(error);
          });
      }
    },
    close: () => withdraw(open, []),
  };
}

function withdraw(open: Map<string, AbortController>, pending: readonly PendingApproval[]): void {
  for (const [id, controller] of open) {
    if (pending.some((approval) => approval.id === id)) continue;
    controller.abort();
    open.delete(id);
  }
}

async function findDecision(
  approval: PendingApproval,
  { mode, conversation, status, paint }: ApproverOptions,
  signal: AbortSignal,
): Promise<Decision> {
  if (mode === "all") return { decision: "allow" };
  if (mode === "none") return { decision: "deny", message: "The user allows no such calls." };
  if (!conversation) throw nobodyAsked(approval);
  const release = status.hold();
  try {
    for (;;) {
      const line = await ask(toQuestion(approval, paint), conversation, signal);
      if (line === null) throw nobodyAsked(approval);
      const decision = readDecision(line);
      if (decision) return decision;
    }
  } finally {
    release();
  }
}

/** The whole call is shown, and every character of it: what is not seen is not approved. */
export function toQuestion({ tool_name: name, args, reason }: PendingApproval, paint: Paint): string {
  const why = { tool: "the tool asks for it", actuator: "it acts", agent: "the agent asks for it" }[reason];
  return [
    `${paint("yellow", "?")} Allow ${paint("bold", toHarmlessLine(name))}? (${why})`,
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

/** Somebody else may have decided, or the session may have ended meanwhile. */
async function tell(
  { client, session }: ApproverOptions,
  { id }: PendingApproval,
  decision: Decision,
): Promise<void> {
  try {
    await client.submitApprovals({ path: { id: session.id }, body: { call_id: id, ...decision } });
  } catch (error) {
    if (!(error instanceof APIError) || error.status !== 409) throw error;
  }
}

function nobodyAsked({ tool_name: name }: PendingApproval): CliError {
  const text = `A call of ${toHarmlessLine(name)} waits for an approval, and nobody is there to be asked:`;
  return new CliError(
    `${text} decide beforehand with --approve all or --approve none.`,
    exitCodes.approvalNeeded,
  );
}
