import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, type PendingCall, type Wire } from "../support/wire.ts";

const anything = { name: "anything", description: "Takes anything.", approval: "always" };
const unique = {
  name: "unique",
  description: "Takes anything without repetitions.",
  approval: "always",
  input_schema: { type: "object", properties: { city: { uniqueItems: true } } },
};

describe("an approval with other arguments", () => {
  let stack: TestStack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await startStack({
      script: ({ body }) => {
        const names = String(body.messages.at(-1)?.content).split(" ");
        return { toolCalls: names.map((name, place) => ({ name, arguments: { city: `${place}` } })) };
      },
    });
    wire = createWire(stack.baseUrl, apiKey);
  });
  afterAll(() => stack?.close());

  const start = async (messages: string) => {
    const id = await wire.create({ agent: { name: "x", tools: [anything, unique] }, messages });
    const { new_events } = await wire.until(id, "awaiting_approval");
    const approvals: PendingCall[] = new_events.at(-1).data.pending_approvals;
    return { id, approvals };
  };
  const decide = (id: string, body: object) => wire.post(`/sessions/${id}/approvals`, body);

  it("that take long to check has one budget of time with its whole batch", async () => {
    const { id, approvals } = await start("unique unique unique unique unique unique");
    const city = Array.from({ length: 30_000 }, (_, x) => ({ x }));
    const entries = approvals.map((call: PendingCall) => ({
      call_id: call.id,
      decision: "allow",
      args: { city },
    }));
    // A machine that has no time for it says so, and then it is to be sent again.
    const send = async () => {
      const reply = await decide(id, { approvals: entries });
      return reply.status !== 503 && reply;
    };
    const { status, body } = await waitFor(send, { what: "a machine with time", timeoutMs: 40_000 });
    expect(status).toBe(422);
    expect(body.detail.at(-1)).toMatchObject({
      ...{ loc: ["body", "approvals", 5, "args"], msg: expect.stringContaining("took all the time") },
    });
  });

  it("has them of the length that a model's may have", async () => {
    const { id, approvals } = await start("anything");
    const allow = (length: number) =>
      decide(id, { call_id: approvals[0]?.id, decision: "allow", args: { city: "x".repeat(length) } });
    const tooLong = await allow(1_000_000);
    expect([tooLong.status, tooLong.body.detail]).toMatchObject([422, [{ loc: ["body", "args"] }]]);
    expect((await allow(999_000)).status).toBe(202);
  });
});
