import { type Static, Type } from "@sinclair/typebox";
import { sendMessages } from "@tandem/engine/commands/send-messages";
import { type ApiContext, type App, principalOf } from "../../context.ts";
import { errorsOfBody, noContent } from "../../schemas/errors.ts";
import { toUserMessage, UserMessageBatch, UserMessageEvent } from "../../schemas/messages.ts";
import { SessionParams } from "../../schemas/params.ts";
import { ref } from "../../schemas/typebox.ts";

type Body = Static<typeof UserMessageEvent> | Static<typeof UserMessageBatch>;

/** `POST /sessions/{id}/messages`: one message, or a batch. */
export function sendMessageRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "POST",
    url: "/api/v2/sessions/:id/messages",
    schema: {
      operationId: "sendMessage",
      tags: ["sessions"],
      summary: "Send messages to a session",
      description:
        "They enter the history before the next model call. An idle or paused session goes on, one that has ended starts " +
        "again; 429 when it finds no free slot and does not queue.",
      params: SessionParams,
      body: Type.Union([ref(UserMessageEvent), ref(UserMessageBatch)]),
      response: { 202: noContent("The messages are stored."), ...errorsOfBody(404, 409) },
    },
    async handler(request, reply) {
      await sendMessages(engine, {
        organizationId: principalOf(request).organizationId,
        sessionId: request.params.id,
        messages: toMessages(request.body),
      });
      return reply.code(202).send();
    },
  });
}

function toMessages(body: Body) {
  return isBatch(body) ? body.messages.map(toUserMessage) : [toUserMessage(body)];
}

/** A batch is closed: nothing but these keys. A single message may carry any others. */
function isBatch(body: Body): body is Static<typeof UserMessageBatch> {
  return "messages" in body && !("message" in body);
}
