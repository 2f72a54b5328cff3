// A web application whose page runs a tool. The key stays here: the page gets a token for one session and one tool.
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/browser/server.ts
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { TandemClient, type ToolDefinition } from "@tandem/sdk";

const port = Number(process.env.EXAMPLE_PORT ?? 3010);
const baseUrl = process.env.TANDEM_BASE_URL ?? "http://127.0.0.1:3000";
const client = new TandemClient({ baseUrl });

/** What the model is told. The function is in the page. */
const readWindowSize: ToolDefinition = {
  name: "read_window_size",
  description: "The size of the user's browser window, in pixels.",
  input_schema: { type: "object", properties: {} },
};

/** Starts a session for the page, with a token that can read it and answer calls of its one tool for ten minutes. */
async function startSession() {
  const { id } = await client.createSession({
    body: {
      agent: "tandem/assistant",
      messages: "What size has my browser window?",
      overrides: { "agent.tools": [readWindowSize] },
    },
  });
  const { token } = await client.createSessionToken({
    path: { id },
    body: { tools: [readWindowSize.name], expires_in_s: 600 },
  });
  return { baseUrl, sessionId: id, token };
}

/** The SDK's build is plain modules, so a page can import it as it is. */
const sdk = new URL("../../dist/", import.meta.url);
const types: Record<string, string> = { html: "text/html; charset=utf-8", js: "text/javascript" };

async function answer(request: IncomingMessage, response: ServerResponse) {
  const { pathname } = new URL(request.url ?? "/", "http://page");
  if (request.method === "POST" && pathname === "/session") {
    const session = await startSession();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(session));
    return;
  }
  const file = pathname.startsWith("/sdk/")
    ? new URL(pathname.slice("/sdk/".length), sdk)
    : new URL(pathname === "/page.js" ? "page.js" : "index.html", import.meta.url);
  if (!fileURLToPath(file).startsWith(fileURLToPath(new URL("../../", import.meta.url)))) {
    response.writeHead(404).end();
    return;
  }
  const type = types[file.pathname.split(".").pop() ?? ""] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type }).end(await readFile(file));
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(500).end();
  });
});
server.listen(port, "127.0.0.1", () => {
  const address = server.address();
  const listening = typeof address === "object" ? address?.port : port;
  console.log(`Open http://127.0.0.1:${listening}`);
});
