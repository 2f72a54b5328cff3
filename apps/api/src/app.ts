// Builds the HTTP application without listening: plugins first, then one function per operation.
import { randomUUID } from "node:crypto";
import cors from "@fastify/cors";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { stringifyJson } from "@tandem/engine/domain/json";
import Fastify, { type FastifyBaseLogger, LogController } from "fastify";
import type { ApiContext, ApiParts, App } from "./context.ts";
import { createKnownKeys } from "./known-keys.ts";
import { requireAdminKey } from "./plugins/admin-keys.ts";
import { requireApiKey } from "./plugins/authentication.ts";
import { closeConnections } from "./plugins/close-connections.ts";
import { answerClientError, answerErrors, answerFrameworkError } from "./plugins/errors.ts";
import { acceptJson, MAX_BODY_BYTES } from "./plugins/json-body.ts";
import { observeRequests } from "./plugins/observe-requests.ts";
import { describeRoutes } from "./plugins/openapi.ts";
import { readQueryLists } from "./plugins/query-lists.ts";
import { limitRate, RATE_HEADERS } from "./plugins/rate-limit.ts";
import { confineTokens } from "./plugins/token-scope.ts";
import { compileValidator } from "./plugins/validation.ts";
import { createAgentRoute } from "./routes/agents/create-agent.ts";
import { deleteAgentRoute } from "./routes/agents/delete-agent.ts";
import { getAgentRoute } from "./routes/agents/get-agent.ts";
import { listAgentsRoute } from "./routes/agents/list-agents.ts";
import { replaceAgentRoute } from "./routes/agents/replace-agent.ts";
import { updateAgentRoute } from "./routes/agents/update-agent.ts";
import { getHealthRoute } from "./routes/health/get-health.ts";
import { getMetricsRoute } from "./routes/health/get-metrics.ts";
import { getOpenApiRoute } from "./routes/health/get-openapi.ts";
import { getReadinessRoute } from "./routes/health/get-readiness.ts";
import { createKeyRoute } from "./routes/keys/create-key.ts";
import { listKeysRoute } from "./routes/keys/list-keys.ts";
import { revokeKeyRoute } from "./routes/keys/revoke-key.ts";
import { getSharedSessionRoute } from "./routes/public-links/get-shared-session.ts";
import { getSharedSessionStatusRoute } from "./routes/public-links/get-shared-session-status.ts";
import { listSharedSessionEventsRoute } from "./routes/public-links/list-shared-session-events.ts";
import { cancelSessionRoute } from "./routes/sessions/cancel-session.ts";
import { claimToolCallRoute } from "./routes/sessions/claim-tool-call.ts";
import { createSessionRoute } from "./routes/sessions/create-session.ts";
import { createSessionTokenRoute } from "./routes/sessions/create-session-token.ts";
import { forceAnswerRoute } from "./routes/sessions/force-answer.ts";
import { getSessionRoute } from "./routes/sessions/get-session.ts";
import { getSessionChangesRoute } from "./routes/sessions/get-session-changes.ts";
import { getSessionQuotaRoute } from "./routes/sessions/get-session-quota.ts";
import { getSessionStatusRoute } from "./routes/sessions/get-session-status.ts";
import { listSessionEventsRoute } from "./routes/sessions/list-session-events.ts";
import { listSessionFeedbackRoute } from "./routes/sessions/list-session-feedback.ts";
import { listSessionToolsRoute } from "./routes/sessions/list-session-tools.ts";
import { listSessionsRoute } from "./routes/sessions/list-sessions.ts";
import { listToolCallsRoute } from "./routes/sessions/list-tool-calls.ts";
import { pauseSessionRoute } from "./routes/sessions/pause-session.ts";
import { replaceSessionToolsRoute } from "./routes/sessions/replace-session-tools.ts";
import { reportProgressRoute } from "./routes/sessions/report-progress.ts";
import { resumeSessionRoute } from "./routes/sessions/resume-session.ts";
import { sendMessageRoute } from "./routes/sessions/send-message.ts";
import { shareSessionRoute } from "./routes/sessions/share-session.ts";
import { streamSessionRoute } from "./routes/sessions/stream-session.ts";
import { submitApprovalsRoute } from "./routes/sessions/submit-approvals.ts";
import { submitEventFeedbackRoute } from "./routes/sessions/submit-event-feedback.ts";
import { submitSessionFeedbackRoute } from "./routes/sessions/submit-session-feedback.ts";
import { submitToolResultsRoute } from "./routes/sessions/submit-tool-results.ts";
import { unshareSessionRoute } from "./routes/sessions/unshare-session.ts";
import { listPendingToolCallsRoute } from "./routes/tool-calls/list-pending-tool-calls.ts";
import { checkToolsRoute } from "./routes/tools/check-tools.ts";
import { namedSchemas } from "./schemas/index.ts";
import { createFeedWaiters } from "./waiting/feed-waiters.ts";

const ROUTES: ((app: App, context: ApiContext) => void)[] = [
  createSessionRoute,
  listSessionsRoute,
  getSessionRoute,
  cancelSessionRoute,
  getSessionStatusRoute,
  getSessionChangesRoute,
  streamSessionRoute,
  listSessionEventsRoute,
  sendMessageRoute,
  submitToolResultsRoute,
  submitApprovalsRoute,
  listSessionToolsRoute,
  replaceSessionToolsRoute,
  listToolCallsRoute,
  claimToolCallRoute,
  reportProgressRoute,
  pauseSessionRoute,
  resumeSessionRoute,
  forceAnswerRoute,
  getSessionQuotaRoute,
  shareSessionRoute,
  unshareSessionRoute,
  createSessionTokenRoute,
  submitSessionFeedbackRoute,
  listSessionFeedbackRoute,
  submitEventFeedbackRoute,
  getSharedSessionRoute,
  getSharedSessionStatusRoute,
  listSharedSessionEventsRoute,
  createAgentRoute,
  listAgentsRoute,
  getAgentRoute,
  replaceAgentRoute,
  updateAgentRoute,
  deleteAgentRoute,
  checkToolsRoute,
  listPendingToolCallsRoute,
  createKeyRoute,
  listKeysRoute,
  revokeKeyRoute,
  getHealthRoute,
  getReadinessRoute,
  getMetricsRoute,
  getOpenApiRoute,
];

/** Builds the application. Closing it ends waiting polls with 204 first. */
export async function buildApp(parts: ApiParts): Promise<App> {
  const feeds = parts.feeds ?? createFeedWaiters(parts.engine);
  const context: ApiContext = { ...parts, feeds, knownKeys: createKnownKeys(parts.engine) };
  const app = Fastify({
    loggerInstance: parts.engine.log as FastifyBaseLogger,
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
  observeRequests(app, context);
  answerErrors(app);
  acceptJson(app);
  readQueryLists(app);
  // Browsers may run tools: the key travels in a header, so any origin may ask.
  await app.register(cors, {
    origin: true,
    strictPreflight: false,
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: ["etag", "retry-after", ...RATE_HEADERS],
    maxAge: 3_600,
  });
  await describeRoutes(app);
  await app.register(async (routes) => {
    // In this scope only: the reference page beside it is for everybody.
    requireApiKey(routes as App, context);
    await limitRate(routes as App, context);
    confineTokens(routes as App);
    requireAdminKey(routes as App);
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
