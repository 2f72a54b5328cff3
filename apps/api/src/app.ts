// Builds the HTTP application without listening: plugins first, then one function per operation.
import { randomUUID } from "node:crypto";
import cors from "@fastify/cors";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { stringifyJson } from "@tandem/engine/domain/json";
import Fastify, { type FastifyBaseLogger, LogController } from "fastify";
import type { ApiContext, App } from "./context.ts";
import { requireApiKey } from "./plugins/authentication.ts";
import { closeConnections } from "./plugins/close-connections.ts";
import { answerClientError, answerErrors, answerFrameworkError } from "./plugins/errors.ts";
import { acceptJson, MAX_BODY_BYTES } from "./plugins/json-body.ts";
import { describeRoutes } from "./plugins/openapi.ts";
import { readQueryLists } from "./plugins/query-lists.ts";
import { compileValidator } from "./plugins/validation.ts";
import { createAgentRoute } from "./routes/agents/create-agent.ts";
import { deleteAgentRoute } from "./routes/agents/delete-agent.ts";
import { getAgentRoute } from "./routes/agents/get-agent.ts";
import { listAgentsRoute } from "./routes/agents/list-agents.ts";
import { replaceAgentRoute } from "./routes/agents/replace-agent.ts";
import { updateAgentRoute } from "./routes/agents/update-agent.ts";
import { getHealthRoute } from "./routes/health/get-health.ts";
import { getOpenApiRoute } from "./routes/health/get-openapi.ts";
import { getReadinessRoute } from "./routes/health/get-readiness.ts";
import { cancelSessionRoute } from "./routes/sessions/cancel-session.ts";
import { createSessionRoute } from "./routes/sessions/create-session.ts";
import { getSessionRoute } from "./routes/sessions/get-session.ts";
import { getSessionChangesRoute } from "./routes/sessions/get-session-changes.ts";
import { getSessionStatusRoute } from "./routes/sessions/get-session-status.ts";
import { listSessionEventsRoute } from "./routes/sessions/list-session-events.ts";
import { listSessionsRoute } from "./routes/sessions/list-sessions.ts";
import { sendMessageRoute } from "./routes/sessions/send-message.ts";
import { submitToolResultsRoute } from "./routes/sessions/submit-tool-results.ts";
import { namedSchemas } from "./schemas/index.ts";

const ROUTES: ((app: App, context: ApiContext) => void)[] = [
  createSessionRoute,
  listSessionsRoute,
  getSessionRoute,
  cancelSessionRoute,
  getSessionStatusRoute,
  getSessionChangesRoute,
  listSessionEventsRoute,
  sendMessageRoute,
  submitToolResultsRoute,
  createAgentRoute,
  listAgentsRoute,
  getAgentRoute,
  replaceAgentRoute,
  updateAgentRoute,
  deleteAgentRoute,
  getHealthRoute,
  getReadinessRoute,
  getOpenApiRoute,
];

/** Builds the application. Closing it ends waiting polls with 204 first. */
export async function buildApp(context: ApiContext): Promise<App> {
  const app = Fastify({
    loggerInstance: context.engine.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    genReqId: () => `req_${randomUUID()}`,
    rewriteUrl: (request) => escapeAgentName(request.url ?? "/"),
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 512 },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  // Replies are built by typed mappers, and events are passed on as stored: text is sent as it is.
  app.setSerializerCompiler(() => (data) => (typeof data === "string" ? data : stringifyJson(data)));
  for (const schema of namedSchemas) app.addSchema(schema);
  closeConnections(app, context);
  answerErrors(app);
  acceptJson(app);
  readQueryLists(app);
  // Browsers may run tools: the key travels in a header, so any origin may ask.
  await app.register(cors, {
    origin: true,
    strictPreflight: false,
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: ["etag", "retry-after"],
    maxAge: 3_600,
  });
  await describeRoutes(app);
  await app.register(async (routes) => {
    // In this scope only: the reference page beside it is for everybody.
    requireApiKey(routes as App, context);
    for (const add of ROUTES) add(routes as App, context);
  });
  await app.ready();
  return app;
}

const AGENT_PATH = /^(\/api\/v2\/agents\/[^/?]+)\/([^/?]+)(\?.*)?$/;

/** An agent's name may hold one slash; the router takes it as one segment when it is escaped. */
function escapeAgentName(url: string): string {
  return url.replace(AGENT_PATH, "$1%2F$2$3");
}
