// Whatever breaks, a connection or a model request: what the SDK's deltas make of a step is what its event says, once.
import { TandemClient, tool } from "@tandem/sdk";
import { expect, it } from "vitest";
import { chooseSeed, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { setTimeout as delay } from "node:timers/promises";

const seed = chooseSeed();
const chance = seeded(seed);
const STEPS = 12;
const FAULTS = process.env.REV_FAULTS === "1";
const SESSIONS = 4;

const said = (step: number) =>
  Array.from({ length: 10 + ((step * 37) % 60) }, (_, i) => `w${(i * step) % 7}🦀`).join(" ") + ` end ${step}`;

it.each(backends)("text once, on %s", async (backend) => {
  const failures = new Map<string, number>();
  const stack = await startStack({
    backend,
    env: { TANDEM_MODEL_RETRIES: "50" },
    script: async ({ body }) => {
      const step = body.messages.filter(({ role }) => role === "assistant").length + 1;
      const text = step % 5 === 0 ? "" : said(step);
      const toolCalls = step < STEPS ? { toolCalls: [{ name: "look", arguments: { step } }] } : {};
      const midway = delay(chance.integer(0, 120));
      if (FAULTS && chance.integer(0, 9) < 3) {
        return { text: `${said(step).slice(0, 20)} something else which is of some length`, midway: delay(100), insteadOfRest: "cut" as const };
      }
      return { text, ...toolCalls, midway };
    },
  });
  const proxy = await startTcpProxy(() => Number(new URL(stack.baseUrl).port));
  let isOver = false;
  let cuts = 0;
  const breaking = (async () => {
    while (!isOver) {
      await delay(FAULTS ? chance.integer(150, 1200) : chance.integer(10, 250));
      await proxy.cut();
      cuts++;
      await proxy.mend();
    }
  })();
  const look = tool({ name: "look", description: "Looks.", fn: async () => { await delay(chance.integer(0, 60)); return "seen"; } });
  const faults: string[] = [];
  const run = async (n: number) => {
    const client = new TandemClient({ baseUrl: stack.baseUrl, apiKey });
    const session = await client.startSession({ agent: { name: "x", tools: [] }, messages: `go ${n}`, tools: [look], stream: n % 2 === 0, maxSteps: 60 } as never);
    const runner = session.waitForCompletion();
    const reader = new TandemClient({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey, maxRetries: 20 });
    await delay(chance.integer(0, 400));
    let texts: Record<number, string> = {};
    let appended: Record<number, string> = {};
    let step = 0;
    let events = 0;
    for await (const item of reader.session(session.id).stream({ onPermissionRequest: "elsewhere" } as never)) {
      if (item.type === "delta") {
        if (item.step !== step + 1) faults.push(`seed ${seed} s${n}: delta of step ${item.step} after ${step} policy events`);
        const before = item.offset === 0 ? "" : (texts[item.step] ?? "");
        if (before.length !== item.offset) faults.push(`seed ${seed} s${n}: step ${item.step} offset ${item.offset} after ${before.length}: ${JSON.stringify([texts[item.step], item.text])}`);
        texts[item.step] = before.slice(0, item.offset) + item.text;
        appended[item.step] = (appended[item.step] ?? "") + item.text;
      } else {
        events++;
        const data = item.data as { kind?: string; content?: string | null };
        if (item.type === "AgentEvent" && data.kind === "policy_event") {
          step++;
          if ((texts[step] ?? "") !== (data.content ?? "")) faults.push(`seed ${seed} s${n}: step ${step} ${JSON.stringify(texts[step])} != ${JSON.stringify(data.content)}`);
          if (!FAULTS && (appended[step] ?? "") !== (data.content ?? "")) faults.push(`seed ${seed} s${n}: step ${step} appended twice ${JSON.stringify(appended[step])}`);
        }
      }
    }
    const result = await runner;
    const all = await session.events();
    if (all.length !== events) faults.push(`events ${events} of ${all.length}`);
    return [result.status, step];
  };
  const results = await Promise.all(Array.from({ length: SESSIONS }, (_, n) => run(n)));
  isOver = true;
  await breaking;
  await proxy.close();
  await stack.close();
  console.log(backend, results, "cuts", cuts, "model requests", stack.model.requests.length);
  expect(faults).toEqual([]);
}, 120_000);
