import { TandemError } from "../domain/errors.ts";
import type { SessionKey } from "../domain/ids.ts";
import type { RememberedDecisions } from "../domain/plan-calls.ts";
import { isSameTool } from "../domain/same-tool.ts";
import type { ToolDefinition } from "../domain/tools.ts";
import { announce, type Engine } from "../engine.ts";
import { readToolbox } from "../postgres/read-toolbox.ts";
import { isContentRemoved } from "../postgres/remove-content.ts";
import { readOpenCalls } from "../postgres/tool-calls.ts";
import { updateSession } from "../postgres/update-session.ts";
import { changeSession, refuseMissing, refuseRemoved } from "./change-session.ts";

/**
 * Replaces the caller's tools of a session, from its next step on. A step that runs was offered the tools before: of what
 * it asks for, the calls count whose tool is still the same. Decisions that were to be remembered are forgotten for tools
 * that are others now.
 *
 * @param input.tools checked by the caller
 * @throws {TandemError} `session_not_found`, `calls_pending` while calls are open, or `content_removed`
 */
export async function replaceTools(
  engine: Engine,
  input: SessionKey & { tools: ToolDefinition[] },
): Promise<void> {
  const change = await changeSession(engine, input, async (tx, session) => {
    if (await isContentRemoved(tx, session.id)) return refuseRemoved(input);
    const open = await readOpenCalls(tx, session.id);
    if (open.length > 0) {
      const ids = open.map(({ id }) => id).join(", ");
      const message = `Calls are open, and tools are replaced between turns only: settle ${ids} first.`;
      throw new TandemError("calls_pending", message);
    }
    const { tools: before } = (await readToolbox(tx, input)) ?? refuseMissing(input);
    return updateSession(tx, session, {
      patch: {
        tools: input.tools,
        toolsVersion: session.toolsVersion + 1,
        remembered: keepRemembered(session.remembered, before, input.tools),
      },
      events: [],
      due: "unchanged",
    });
  });
  await announce(engine, change);
}

function keepRemembered(
  remembered: RememberedDecisions,
  before: readonly ToolDefinition[],
  after: readonly ToolDefinition[],
): RememberedDecisions {
  const kept = Object.entries(remembered).filter(([name]) => isSameTool(name, before, after));
  return Object.fromEntries(kept);
}
