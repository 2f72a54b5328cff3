import { Type } from "@sinclair/typebox";
import {
  createSession,
  findCreatedSession,
  type IdempotencyKey,
} from "@tandem/engine/commands/create-session";
import type { JsonValue } from "@tandem/engine/domain/json";
import { getAgent } from "@tandem/engine/queries/find-agent";
import { getSession } from "@tandem/engine/queries/sessions";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody } from "../../schemas/errors.ts";
import { SessionRequest } from "../../schemas/session-request.ts";
import { Session, toSession } from "../../schemas/sessions.ts";
import { ref } from "../../schemas/typebox.ts";
import { resolveRequest } from "../../session-request/resolve-request.ts";

const Headers = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "For 24 hours the same key with the same body gives the same session.",
    }),
  ),
});

/** `POST /sessions`: creates a session and starts it. */
export function createSessionRoute(app: App, { engine, models }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions",
    schema: {
      operationId: "createSession",
      tags: ["sessions"],
      summary: "Create a session",
      description:
        "The session starts at once; poll its changes. 404 when the named agent does not exist; 409 while another " +
        "request with the same `Idempotency-Key` is under way, and when the session that it made has been deleted.",
      headers: Headers,
      body: ref(SessionRequest),
      response: { 201: ref(Session), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const { organizationId } = principal;
      const idempotency = toIdempotency(request.raw.headers["idempotency-key"], request.body);
      // Looked up first: a repeat gets its session even when the agent has changed since.
      const earlier = idempotency ? await findCreatedSession(engine, organizationId, idempotency) : null;
      request.createdSessionId = earlier;
      if (earlier !== null) {
        const session = await getSession(engine, { organizationId, sessionId: earlier });
        return reply.code(201).send(toSession(session));
      }
      const resolved = await resolveRequest(request.body, {
        models,
        findAgent: (name) => getAgent(engine, organizationId, name),
      });
      const session = await createSession(engine, { principal, ...resolved, idempotency });
      request.createdSessionId = session.id;
      return reply.code(201).send(toSession(session));
    },
  });
}

function toIdempotency(key: string | string[] | undefined, body: unknown): IdempotencyKey | undefined {
  return typeof key === "string" ? { key, body: body as JsonValue } : undefined;
}
