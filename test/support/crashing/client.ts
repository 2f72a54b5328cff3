// A client process on the SDK, with a place to die in between running a tool and posting its result; see crash-at.ts.
// Serves the sessions that its arguments name, and ends when they have.
import { TandemClient, tool } from "@tandem/sdk";
import { lookUpAt } from "../ledger.ts";
import { lookUpTool } from "../planned-sessions.ts";
import { pass } from "./crash-at.ts";

const { TANDEM_BASE_URL = "", TANDEM_API_KEY = "", LEDGER_URL = "" } = process.env;
const client = new TandemClient({ baseUrl: TANDEM_BASE_URL, apiKey: TANDEM_API_KEY });
const lookUp = tool<{ key: string }>({
  name: lookUpTool.name,
  description: lookUpTool.description,
  inputSchema: lookUpTool.input_schema,
  fn: async ({ key }, { callId }) => {
    const value = await lookUpAt(LEDGER_URL, key, callId);
    await pass("before posting");
    return value;
  },
});
await Promise.all(
  process.argv.slice(2).map((id) => client.session(id).waitForCompletion({ tools: [lookUp] })),
);
