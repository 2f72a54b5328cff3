/**
 * Decides what the demo model does next: call tools, hand in a structured answer, or say something.
 * Pure: the same prompt and tools always give the same turn.
 */
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { composeAnswer } from "./compose-answer.ts";
import { type Conversation, readConversation, type ToolOutcome } from "./conversation.ts";
import { createFacts } from "./facts.ts";
import type { FillableTool } from "./fill-arguments.ts";
import { describeGap, isSame, type Plan, type PlannedCall, planCalls } from "./plan-calls.ts";
import { fillAnyhow } from "./structured-answer.ts";

/** What the model does: calls, or text when there are none. */
export type Turn = { readonly calls: readonly PlannedCall[] } | { readonly text: string };

type TurnOptions = Pick<LanguageModelV3CallOptions, "prompt" | "tools" | "toolChoice">;

/** The tool by which an agent with an answer format finishes; it is called in place of a text answer. */
const ANSWER_TOOL = "submit_answer";
/** Tools looked at; a session with more than that needs a real model. */
const MAX_TOOLS = 200;
const MAX_NAMES_IN_REPLY = 20;

export function decideTurn({ prompt, tools, toolChoice }: TurnOptions): Turn {
  const conversation = readConversation(prompt);
  const offered = functionTools(tools);
  const outcomes = relevantOutcomes(conversation, offered);
  if (toolChoice?.type === "none")
    return { text: sayText(conversation, outcomes, offered, { calls: [], gaps: [] }) };
  if (toolChoice?.type === "tool") {
    const tool = offered.find((candidate) => candidate.name === toolChoice.toolName);
    return tool === undefined
      ? { text: `There is no tool ${toolChoice.toolName}.` }
      : forceCall(tool, conversation, outcomes);
  }
  const plan = planNext(conversation, offered);
  if (plan.calls.length > 0) return { calls: plan.calls };
  const answer = sayText(conversation, outcomes, offered, plan);
  return finish({ conversation, offered, outcomes, answer, plan, mustCall: toolChoice?.type === "required" });
}

function functionTools(tools: LanguageModelV3CallOptions["tools"]): FillableTool[] {
  return (tools ?? []).flatMap((tool) => (tool.type === "function" ? [tool] : [])).slice(0, MAX_TOOLS);
}

/** Results for the open message; when no tool is left to call, those before it, since an answer is due. */
function relevantOutcomes(
  conversation: Conversation,
  offered: readonly FillableTool[],
): readonly ToolOutcome[] {
  const isOver = offered.every((tool) => tool.name === ANSWER_TOOL);
  const outcomes =
    conversation.outcomes.length === 0 && isOver ? conversation.earlierOutcomes : conversation.outcomes;
  return outcomes.filter((outcome) => outcome.toolName !== ANSWER_TOOL);
}

/** The planned calls that are still to be made: a tool that has answered this message is not called again. */
function planNext(conversation: Conversation, offered: readonly FillableTool[]): Plan {
  const callable = offered.filter((tool) => tool.name !== ANSWER_TOOL);
  const facts = createFacts(conversation.outcomes, "same");
  const plan = planCalls(conversation, callable, conversation.outcomes.length > 0 ? facts : undefined);
  const called = new Set(conversation.outcomes.map((outcome) => outcome.toolName));
  return {
    calls: plan.calls.filter((call) => !called.has(call.toolName)),
    gaps: plan.gaps.filter((gap) => !called.has(gap.toolName)),
  };
}

interface Ending {
  readonly conversation: Conversation;
  readonly offered: readonly FillableTool[];
  readonly outcomes: readonly ToolOutcome[];
  readonly answer: string;
  readonly plan: Plan;
  readonly mustCall: boolean;
}

/** The answer: through the answer tool when there is one, else as text unless a call is demanded. */
function finish({ conversation, offered, outcomes, answer, plan, mustCall }: Ending): Turn {
  const answerTool = offered.find((tool) => tool.name === ANSWER_TOOL);
  const refused = conversation.outcomes.findLast(
    (outcome) => outcome.toolName === ANSWER_TOOL && outcome.isError,
  );
  if (answerTool !== undefined && (refused === undefined || mustCall)) {
    const args = fillAnyhow({ tool: answerTool, message: conversation.message, outcomes, answer });
    if (args !== undefined) return { calls: [{ toolName: ANSWER_TOOL, args }] };
  }
  if (refused !== undefined)
    return { text: `I could not give an answer in the wanted form. ${composeAnswer([refused])}` };
  if (!mustCall) return { text: answer };
  const wanted = offered.find((tool) => tool.name === plan.gaps[0]?.toolName) ?? offered[0];
  return wanted === undefined ? { text: answer } : forceCall(wanted, conversation, outcomes);
}

/** A call that was demanded: with what the message gives, completed by made-up values. */
function forceCall(tool: FillableTool, conversation: Conversation, outcomes: readonly ToolOutcome[]): Turn {
  const planned = planCalls(conversation, [tool]).calls;
  const isNew = planned.every(
    (call) => !outcomes.some(({ toolName, args }) => isSame(call, { toolName, args })),
  );
  if (tool.name !== ANSWER_TOOL && planned.length > 0 && isNew) return { calls: planned };
  const answer = outcomes.length > 0 ? { answer: composeAnswer(outcomes) } : {};
  const args = fillAnyhow({ tool, message: conversation.message, outcomes, ...answer });
  return args === undefined
    ? { text: describeGap({ toolName: tool.name, missing: [] }) }
    : { calls: [{ toolName: tool.name, args }] };
}

function sayText(
  conversation: Conversation,
  outcomes: readonly ToolOutcome[],
  offered: readonly FillableTool[],
  plan: Plan,
): string {
  const asks = plan.gaps.map(describeGap);
  const results = outcomes.length > 0 ? [composeAnswer(outcomes)] : [];
  const parts = [...results, ...asks];
  return parts.length > 0 ? parts.join("\n\n") : introduce(conversation, offered);
}

function introduce(conversation: Conversation, offered: readonly FillableTool[]): string {
  const names = offered.map((tool) => tool.name).filter((name) => name !== ANSWER_TOOL);
  const shown =
    names.slice(0, MAX_NAMES_IN_REPLY).join(", ") + (names.length > MAX_NAMES_IN_REPLY ? ", …" : "");
  const offer = names.length === 0 ? "This session offers me no tools." : `I can call these tools: ${shown}.`;
  const why =
    names.length === 0 || conversation.message === "" ? "" : " None of them seems to fit your message.";
  return (
    `I am demo/keyword, a demo model without a language model behind it. ${offer}${why} ` +
    "For real answers set TANDEM_MODEL (for example openai/gpt-5-mini) and that provider's key (OPENAI_API_KEY)."
  );
}
