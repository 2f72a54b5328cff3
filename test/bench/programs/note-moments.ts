// Loaded before a process of Tandem: notes when a post of tool results is received, and when a request to a model
// leaves, as Node and undici tell it, on the clock that all processes share. Lines are written now and then, so that no
// trip waits for a file.
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { monotonicMs } from "../clock.ts";
import { MOMENTS_FILE } from "../moments.ts";

const WRITE_MS = 50;

const file = process.env[MOMENTS_FILE] ?? "";
let lines = "";
const note = (what: string) => {
  lines += `${what} ${monotonicMs()}\n`;
};

subscribe("http.server.request.start", (message) => {
  const { method, url = "" } = (message as { request: IncomingMessage }).request;
  if (method === "POST" && url.endsWith("/tool_results")) note("received");
});
subscribe("undici:client:sendHeaders", () => note("left"));

setInterval(() => {
  if (lines !== "") appendFileSync(file, lines);
  lines = "";
}, WRITE_MS).unref();
