// Whatever breaks, the line to the reader or the model's reply: what the SDK's deltas make of a step is what its event
// says.
import { setTimeout as delay } from "node:timers/promises";
import { TandemClient, tool } from "@tandem/sdk";
import { expect, it, onTestFinished } from "vitest";
import type { ModelScript } from "../support/fake-model-server.ts";
import { chooseSeed, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const SESSIONS = 4;
const STEPS = 5;

const toText = (step: number) => `step ${step}: ${"🦀 and more ".repeat((step * 37) % 60)}`;

it.each(backends)("text is told whole over lines and requests that break, on %s", async (backend) => {
  const seed = chooseSeed();
  const chance = seeded(seed);
  /** Streamed replies that begin alike and break off, some later than the whole reply ends; no step has two. */
  const broken = new Set<string>();
  const script: ModelScript = ({ body }) => {
    const step = body.messages.filter(({ role }) => role === "assistant").length + 1;
    const request = JSON.stringify([step, body.messages.find(({ role }) => role === "user")]);
    const midway = delay(chance.integer(0, 100));
    if (body.stream && !broken.has(request) && chance() < 0.5) {
      broken.add(request);
      return { text: `${toText(step).slice(0, 20)} or else ${toText(7)}`, midway, insteadOfRest: "cut" };
    }
    const text = step === 3 ? "" : toText(step);
    return { text, midway, toolCalls: step < STEPS ? [{ name: "look", arguments: { step } }] : [] };
  };
  const stack = await startStack({ backend, script });
  onTestFinished(() => stack.close());
  const proxy = await startTcpProxy(() => Number(new URL(stack.baseUrl).port));
  onTestFinished(() => proxy.close());
  let isOver = false;
  const breaking = (async () => {
    while (!isOver) {
      await delay(chance.integer(50, 500));
      await proxy.cut();
      await proxy.mend();
    }
  })();
  const look = tool({ name: "look", description: "Looks.", fn: () => delay(chance.integer(0, 50), "seen") });
  const runs = Array.from({ length: SESSIONS }, async (_, number) => {
    const direct = new TandemClient({ baseUrl: stack.baseUrl, apiKey });
    const session = await direct.startSession({
      agent: { name: "x" },
      messages: `Session ${number}`,
      tools: [look],
      stream: number % 2 === 0,
    });
    const running = session.waitForCompletion();
    const client = new TandemClient({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey, maxRetries: 20 });
    const said: string[] = [];
    const told: string[] = [];
    let text = "";
    for await (const item of client.session(session.id).stream({ onPermissionRequest: "elsewhere" })) {
      if (item.type === "delta") {
        if (item.offset === 0) text = "";
        expect([item.step, item.offset], `seed ${seed}`).toEqual([said.length + 1, text.length]);
        text += item.text;
      } else if (item.type === "AgentEvent" && item.data.kind === "policy_event") {
        said.push(item.data.content ?? "");
        told.push(text);
        text = "";
      }
    }
    expect(told, `seed ${seed}`).toEqual(said);
    expect([said.length, (await running).status]).toEqual([STEPS, "completed"]);
  });
  await Promise.all(runs).finally(() => {
    isOver = true;
  });
  await breaking;
});
