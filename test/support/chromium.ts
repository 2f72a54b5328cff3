// A headless Chromium, driven over its own protocol: enough to open a page and to look at it.
import { execFileSync, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { WebSocket } from "undici";
import { makeTemporaryFolder } from "./temporary-folder.ts";

/** The browser's program; null where none is installed. */
export const chromiumPath = findChromium();

/** An open page. */
export interface BrowserPage {
  /** The value of an expression in the page; a promise is awaited. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

/** Opens an address in a browser of its own, with nothing kept. The window has 800 times 600 pixels. */
export async function openPage(url: string): Promise<BrowserPage> {
  if (chromiumPath === null) throw new Error("Chromium is not installed");
  const profile = await makeTemporaryFolder("tandem-chromium-");
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
  const browser = spawn(
    chromiumPath,
    [
      ...flags,
      "--no-first-run",
      "--window-size=800,600",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      url,
    ],
    { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH, HOME: profile } },
  );
  const exited = new Promise((resolve) => browser.once("exit", resolve));
  const close = async () => {
    browser.kill("SIGKILL");
    await exited;
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    const port = await findDebuggingPort(browser.stderr);
    const socket = await connect(await findPageSocket(port, url));
    return {
      evaluate: (expression) => evaluate(socket, expression),
      close: async () => {
        socket.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function findChromium(): string | null {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {}
  }
  return null;
}

async function findDebuggingPort(stderr: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: stderr })) {
    const port = line.match(/DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//)?.[1];
    if (port !== undefined) {
      stderr.resume();
      return port;
    }
    lines.push(line);
  }
  throw new Error(`Chromium ended without a page:\n${lines.join("\n")}`);
}

async function findPageSocket(port: string, url: string): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}/json/list`);
  const pages = (await reply.json()) as { type: string; url: string; webSocketDebuggerUrl: string }[];
  const page = pages.find(({ type }) => type === "page");
  if (!page) throw new Error(`Chromium shows no page of ${url}: ${JSON.stringify(pages)}`);
  return page.webSocketDebuggerUrl;
}

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", () => reject(new Error(`${url} cannot be reached`)), { once: true });
  });
  return socket;
}

/** A reply of the browser to `Runtime.evaluate`. */
interface Evaluation {
  id?: number;
  result?: { result?: { value?: unknown }; exceptionDetails?: unknown };
}

let lastId = 0;

async function evaluate(socket: WebSocket, expression: string): Promise<unknown> {
  lastId += 1;
  const id = lastId;
  const reply = new Promise<Evaluation>((resolve) => {
    const listen = ({ data }: { data: unknown }) => {
      const message = JSON.parse(String(data)) as Evaluation;
      if (message.id !== id) return;
      socket.removeEventListener("message", listen);
      resolve(message);
    };
    socket.addEventListener("message", listen);
  });
  const params = { expression, returnByValue: true, awaitPromise: true };
  socket.send(JSON.stringify({ id, method: "Runtime.evaluate", params }));
  const { result } = await reply;
  if (result?.exceptionDetails)
    throw new Error(`${expression} threw ${JSON.stringify(result.exceptionDetails)}`);
  return result?.result?.value;
}
