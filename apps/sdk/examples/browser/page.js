// Runs in the browser: joins the session that the server has made, and runs its tool here.
import { TandemClient, tool } from "@tandem/sdk";

const { baseUrl, sessionId, token } = await (await fetch("/session", { method: "POST" })).json();
const client = new TandemClient({ baseUrl, apiKey: token });

const readWindowSize = tool({
  name: "read_window_size",
  description: "The size of the user's browser window, in pixels.",
  inputSchema: { type: "object", properties: {} },
  fn: () => ({ width: window.innerWidth, height: window.innerHeight }),
});

const events = document.querySelector("#events");
const result = await client.session(sessionId).waitForCompletion({
  tools: [readWindowSize],
  onEvent: ({ type }) => {
    events.append(Object.assign(document.createElement("li"), { textContent: type }));
  },
});
document.querySelector("#answer").textContent = result.answer ?? result.error;
document.title = result.status;
