// The OpenAPI document, made from the route schemas, and the reference page that shows it.
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { App } from "../context.ts";

/** The version of the HTTP API. */
const API_VERSION = "2.0.0";

const DESCRIPTION = `Run AI agents on a server while their tools run in your process.

1. \`POST /api/v2/sessions\` with a message and the definitions of your tools.
2. \`GET /api/v2/sessions/{id}/changes?wait_for_seconds=20\` until \`status\` is \`awaiting_tool_results\`; the last
   \`ActiveStateChangeEvent\` lists the calls.
3. Run them and \`POST /api/v2/sessions/{id}/tool_results\`.
4. Poll on until the session has ended; \`answer\` has the answer.

Choose **Authorize** and paste your API key to try the requests here.`;

/** Adds the document's generator. Must come before the routes. */
export async function describeRoutes(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Tandem", version: API_VERSION, description: DESCRIPTION },
      tags: [
        { name: "sessions", description: "Runs of agents." },
        { name: "shared", description: "What a public link shows, without a key." },
        { name: "agents", description: "Stored definitions." },
        { name: "tools", description: "Tool definitions, before a session has them." },
        { name: "keys", description: "API keys of every organization, for admin keys." },
        { name: "server", description: "Health and documentation." },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: "http",
            scheme: "bearer",
            description: "An API key of an organization, or a session token.",
          },
        },
      },
      security: [{ apiKey: [] }],
    },
    transformObject: (document) =>
      withoutOurKeyword(tidy("openapiObject" in document ? document.openapiObject : {})),
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `schema-${i}`) },
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    theme: { title: "Tandem API" },
    uiConfig: { persistAuthorization: true, displayRequestDuration: true, tryItOutEnabled: true },
    logLevel: "silent",
  });
}

/** A keyword of our validator that is no part of JSON Schema. */
const OUR_KEYWORD = "errorHint";

function withoutOurKeyword<T>(document: T): T {
  return JSON.parse(JSON.stringify(document, (key, value) => (key === OUR_KEYWORD ? undefined : value))) as T;
}

/** What the generator cannot know: a parameter with a default may be left out, and a reply's text is not "default". */
function tidy<T extends object>(document: T): T {
  const { paths = {} } = document as { paths?: Record<string, Record<string, Operation>> };
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters ?? []) {
      if (parameter.schema?.default !== undefined) parameter.required = false;
    }
    for (const reply of Object.values(operation.responses ?? {})) {
      if (reply.description === "Default Response") reply.description = "Success.";
    }
  }
  return document;
}

interface Operation {
  parameters?: { required?: boolean; schema?: { default?: unknown } }[];
  responses?: Record<string, { description?: string }>;
}
