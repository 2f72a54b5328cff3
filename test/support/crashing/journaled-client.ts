// A client process with a journal, for tests that kill it. Arguments: server, session, journal's folder, `sideEffects`,
// what the handler does (`return` or `hang`). It says on its output when the handler runs, and when the session is done.
import { TandemClient, tool } from "@tandem/sdk";
import { fileJournal } from "@tandem/sdk/node";

const [baseUrl = "", sessionId = "", folder = "", sideEffects, does] = process.argv.slice(2);
const client = new TandemClient({ baseUrl, apiKey: "key", journal: fileJournal(folder) });
const charge = tool({
  name: "charge",
  description: "Charges a card.",
  sideEffects: sideEffects as "none" | "idempotent" | "unsafe",
  fn: (_, { idempotencyKey }) => {
    console.log(`ran ${idempotencyKey}`);
    return does === "hang" ? new Promise(() => {}) : `charged by ${process.pid}`;
  },
});
const { status } = await client.session(sessionId).waitForCompletion({ tools: [charge] });
console.log(`ended ${status}`);
