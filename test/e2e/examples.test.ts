// The SDK's examples, run as their first lines say.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot, startProcess, type TestProcess } from "../support/processes.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";

const folder = "apps/sdk/examples";
let stack: TestStack;
const started: TestProcess[] = [];
beforeAll(async () => {
  stack = await startStack({ env: { TANDEM_MODEL: "demo/keyword" } });
});
afterAll(() => stack.close());
afterEach(async () => {
  for (const child of started.splice(0)) await child.close();
});

const start = (
  name: string,
  options: { args?: string[]; input?: string; env?: Record<string, string> } = {},
) => {
  const child = startProcess({
    entry: `${folder}/${name}`,
    ...options,
    env: { TANDEM_BASE_URL: stack.baseUrl, TANDEM_API_KEY: apiKey, ...options.env },
  });
  started.push(child);
  return child;
};
const output = async (child: TestProcess) => {
  const end = await child.exited;
  expect({ end, stderr: child.stderr }).toEqual({ end: { code: 0, signal: null }, stderr: [] });
  return child.stdout.join("\n");
};

describe("the examples", () => {
  it("are all tried here or in the browser's test", async () => {
    const names = (await readdir(join(repositoryRoot, folder))).sort();
    expect(names).toEqual([
      "approvals.ts",
      "browser",
      "fastify-app.ts",
      "images.ts",
      "order-status.ts",
      "streaming.ts",
      "tool-worker.ts",
    ]);
  });

  it("order-status.ts answers with what its tool knows", async () => {
    const text = await output(start("order-status.ts", { args: ["Where is order A-1002?"] }));
    expect(text).toMatch(/^completed [\s\S]*being packed/);
    expect(text).toMatch(/get_order_status took \d+ ms/);
  });

  it("approvals.ts refunds when the person at the terminal says yes", async () => {
    const text = await output(start("approvals.ts", { input: "y\n" }));
    expect(text).toMatch(/Allow refund_order \{"order_id":"A-1001"\}\? \[y\/N\]/);
    expect(text).toMatch(/Refunding A-1001 as \S+\/\S+/);
    expect(text).toMatch(/^completed /m);
  });

  it("approvals.ts refunds nothing when the answer is no", async () => {
    const text = await output(start("approvals.ts", { input: "n\n" }));
    expect(text).not.toMatch(/Refunding/);
    expect(text).toMatch(/completed .*The clerk said no/);
  });

  it("images.ts shows the model a picture, and keeps its details to itself", async () => {
    expect(await output(start("images.ts"))).toMatch(/^completed [\s\S]*blue square/i);
  });

  it("streaming.ts prints progress, and the answer as it is made", async () => {
    const text = await output(start("streaming.ts"));
    expect(text.match(/progress \{"left":\d\}/g)).toHaveLength(3);
    expect(text).toMatch(/\[awaiting_tool_results\]/);
    expect(text).toMatch(/Lift-off!/);
    expect(text).toMatch(/completed after 2 model calls$/);
  });

  it("tool-worker.ts answers the calls of those who ask from elsewhere", async () => {
    const workers = [start("tool-worker.ts"), start("tool-worker.ts")];
    await Promise.all(workers.map((worker) => worker.waitForLine(/Serving/)));
    const text = await output(start("tool-worker.ts", { args: ["ask", "How many pencils are in stock?"] }));
    expect(text).toMatch(/^completed [\s\S]*1200/);
    expect(text).toMatch(new RegExp(workers.map(({ pid }) => pid).join("|")));
    for (const worker of workers) worker.kill("SIGTERM");
    for (const worker of workers) await output(worker);
  });

  it("fastify-app.ts answers over HTTP", async () => {
    const app = start("fastify-app.ts", { env: { EXAMPLE_PORT: "0" } });
    const [, url] = await app.waitForLine(/Listening on (http:\S+)/);
    const question = encodeURIComponent("How many seats has the red room?");
    const reply = await fetch(`${url}/ask?question=${question}`);
    const body = (await reply.json()) as { status: string; answer: string };
    expect(body.status).toBe("completed");
    expect(body.answer).toContain("12");
    app.kill("SIGTERM");
    await output(app);
  });
});
