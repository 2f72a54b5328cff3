import { createSession } from "@tandem/engine/commands/create-session";
import { getAgent } from "@tandem/engine/queries/find-agent";
import { getSession } from "@tandem/engine/queries/sessions";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { SessionRequest } from "../../schemas/session-request.ts";
import { Session, toSession } from "../../schemas/sessions.ts";
import { ref } from "../../schemas/typebox.ts";
import { resolveRequest } from "../../session-request/resolve-request.ts";

/** `POST /sessions`: creates a session and starts it. */
export function createSessionRoute(app: App, { engine, models }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions",
    schema: {
      operationId: "createSession",
      tags: ["sessions"],
      summary: "Create a session",
      description: "The session starts at once; poll its changes. 404 when the named agent does not exist.",
      body: ref(SessionRequest),
      response: { 201: ref(Session), ...errorsOfBody(404) },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const { organizationId } = principal;
      const resolved = await resolveRequest(request.body, {
        models,
        findAgent: (name) => getAgent(engine, organizationId, name),
      });
      const sessionId = await createSession(engine, { principal, ...resolved });
      return reply.code(201).send(toSession(await getSession(engine, { organizationId, sessionId })));
    },
  });
}
