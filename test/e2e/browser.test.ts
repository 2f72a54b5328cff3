// The SDK in a real browser: a page that runs a tool with a session token.
import { afterAll, describe, expect, it } from "vitest";
import { chromiumPath, openPage } from "../support/chromium.ts";
import { oneToolThenAnswer } from "../support/fake-model-server.ts";
import { startProcess } from "../support/processes.ts";
import { apiKey, startStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

describe.skipIf(chromiumPath === null)("a page in Chromium", () => {
  it("runs a tool with a session token, and shows the answer", async () => {
    const stack = await startStack({ script: oneToolThenAnswer("read_window_size", {}) });
    closers.push(() => stack.close());
    const server = startProcess({
      entry: "apps/sdk/examples/browser/server.ts",
      env: { EXAMPLE_PORT: "0", TANDEM_BASE_URL: stack.baseUrl, TANDEM_API_KEY: apiKey },
    });
    closers.push(() => server.close());
    const [, url = ""] = await server.waitForLine(/Open (http:\/\/\S+)/);
    const page = await openPage(url);
    closers.push(() => page.close());
    await waitFor(async () => (await page.evaluate("document.title")) === "completed", {
      what: "the page to show the end",
      timeoutMs: 60_000,
    });
    const width = await page.evaluate("window.innerWidth");
    const told = JSON.stringify(stack.model.requests.at(-1)?.body);
    expect(told).toContain(`\\"width\\":${width}`);
    expect(await page.evaluate("document.querySelector('#answer').textContent")).toBeTruthy();
    expect(await page.evaluate("document.querySelectorAll('#events li').length")).toBeGreaterThan(5);
    expect(server.stderr).toEqual([]);
  });
});
