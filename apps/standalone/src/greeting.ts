// What `npm start` says: where it listens, the key, and a request to paste.
import { exampleRequest } from "@tandem/api/schemas/session-request";
import type { RunningStandalone } from "./start-standalone.ts";

/** The lines to print, without colour, so that they can be copied from anywhere. */
export function toGreeting(
  stack: Pick<RunningStandalone, "baseUrl" | "apiKey">,
  options: { isDemoModel: boolean },
): string {
  return [
    "",
    "Tandem is running.",
    "",
    `  API         ${stack.baseUrl}/api/v2`,
    `  Reference   ${stack.baseUrl}/docs`,
    `  API key     ${stack.apiKey}`,
    "",
    ...(options.isDemoModel ? DEMO_NOTE : []),
    "Create a session with one tool of yours:",
    "",
    toCurl(stack),
    "",
    "Ctrl-C ends it.",
    "",
  ].join("\n");
}

const DEMO_NOTE = [
  "TANDEM_MODEL is not set: agents that name no model use demo/keyword, a demo that matches words.",
  "Set TANDEM_MODEL and a provider's key (see README, Settings) for a real model.",
  "",
];

/** A request that works as it stands. */
function toCurl({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): string {
  return [
    `curl ${baseUrl}/api/v2/sessions \\`,
    `  -H 'Authorization: Bearer ${apiKey}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(exampleRequest)}'`,
  ].join("\n");
}
