// Every named schema, in the order in which they refer to each other.
import { agentSchemas, StoredAgent } from "./agents.ts";
import { approvalSchemas } from "./approvals.ts";
import { errorSchemas } from "./errors.ts";
import { eventSchemas } from "./events.ts";
import { feedbackSchemas } from "./feedback.ts";
import { keySchemas } from "./keys.ts";
import { messageSchemas } from "./messages.ts";
import { sessionRequestSchemas } from "./session-request.ts";
import { sessionTokenSchemas } from "./session-tokens.ts";
import { sessionToolSchemas } from "./session-tools.ts";
import { page, sessionSchemas } from "./sessions.ts";
import { sharingSchemas } from "./sharing.ts";
import { toolCallSchemas } from "./tool-calls.ts";
import { toolCheckSchemas } from "./tool-checks.ts";
import { toolResultSchemas } from "./tool-results.ts";
import { ref } from "./typebox.ts";

export const AgentPage = page("Page_Agent_", ref(StoredAgent));

/** All schemas that have a name in the OpenAPI document. */
export const namedSchemas = [
  ...errorSchemas,
  ...messageSchemas,
  ...agentSchemas,
  ...sessionRequestSchemas,
  ...toolResultSchemas,
  ...eventSchemas,
  ...sessionSchemas,
  ...toolCallSchemas,
  ...approvalSchemas,
  ...sharingSchemas,
  ...sessionTokenSchemas,
  ...feedbackSchemas,
  AgentPage,
  ...keySchemas,
  ...toolCheckSchemas,
  ...sessionToolSchemas,
];
