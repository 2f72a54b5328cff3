import type { AgentDefinition } from "../domain/agents.ts";
import type { Principal } from "../domain/api-keys.ts";
import { requestStart } from "../domain/events.ts";
import { newSessionId } from "../domain/ids.ts";
import type { SessionRequest } from "../domain/session-request.ts";
import { announce, type Engine } from "../engine.ts";
import { insertSession } from "../postgres/insert-session.ts";

/**
 * Creates a session: one statement writes it with its first event and messages; then its first step is queued.
 *
 * @param input.agent what runs, after overrides; checked by the caller
 * @returns the session's id
 */
export async function createSession(
  engine: Engine,
  input: { principal: Principal; request: SessionRequest; agent: AgentDefinition },
): Promise<string> {
  const { tools, ...agent } = input.agent;
  const id = newSessionId();
  await insertSession(engine.pool, {
    id,
    organizationId: input.principal.organizationId,
    userName: input.principal.userName,
    request: input.request,
    agent,
    tools: tools ?? [],
    messages: input.request.messages ?? [],
    events: [requestStart()],
  });
  await announce(engine, id, { fence: 0 });
  return id;
}
