// Whatever happens to its connections, its API processes and the wake-up channel: a stream has every event once and in
// order, the text of each step before its events, no state before the events that explain it, and ends when its session
// has.
import { expect, it } from "vitest";
import type { ModelScript } from "../support/fake-model-server.ts";
import { chooseSeed, seeded } from "../support/seeded.ts";
import { apiKey, backends, startStack, type TestStack } from "../support/stack.ts";
import { eventsOf, type Frame, readStream, textOf } from "../support/stream-reader.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, resultFor, type Wire, weatherTool } from "../support/wire.ts";

const seed = chooseSeed();
const chance = seeded(seed);
const ROUNDS = 6;
const SESSIONS = 3;
const READERS = 4;
const SAID = "One, two, and three words of a step, and some more of them";

const script: ModelScript = ({ body }) => {
  const rounds = body.messages.filter(({ role, tool_calls: calls }) => role === "assistant" && calls).length;
  if (rounds >= ROUNDS) return { text: SAID };
  return {
    text: SAID,
    toolCalls: [1, 2, 3].map(() => ({ name: "get_weather", arguments: { city: "Rome" } })),
  };
};

/** What must hold of one connection's frames, from the cursor that it asked for. */
function checkFrames(frames: readonly Frame[], fromIndex: number): number {
  let cursor = fromIndex;
  let last: Frame["data"];
  let told = 0;
  for (const [place, { id, event, data }] of frames.entries()) {
    if (id !== null) {
      expect(Number(id)).toBe(cursor++);
      last = data;
      if (data.data.kind !== "policy_event") continue;
      expect(textOf(frames.slice(told, place))).toBe(SAID);
      told = place;
    } else if (event === "state") {
      expect(data).toMatchObject({ next_index: cursor, has_more: false });
      if (data.status === "completed")
        expect(last?.type ?? "AgentCompletionEvent").toBe("AgentCompletionEvent");
      else expect(last?.type).not.toBe("AgentCompletionEvent");
    }
  }
  const steps = new Set(
    frames.filter(({ event }) => event === "delta").map(({ data }) => data.step as number),
  );
  for (const step of steps) expect(SAID.startsWith(textOf(frames, step))).toBe(true);
  return cursor;
}

it.each(backends)(
  "a stream survives readers, processes and channels that come and go, on %s",
  async (backend) => {
    const stack: TestStack = await startStack({ backend, script });
    const wire: Wire = createWire(stack.baseUrl, apiKey);
    let isOver = false;
    let spare = await stack.addApi();

    const breakThings = async () => {
      while (!isOver) {
        await stack.engine.pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'tandem-wake' AND random() < 0.4`,
        );
        const leaving = spare;
        spare = await stack.addApi();
        await leaving.close();
      }
    };
    const write = async (id: string) => {
      while ((await wire.get(`/sessions/${id}/status`)).body.status !== "completed") {
        const calls = await wire.pending(id);
        await Promise.all(
          calls.flatMap((call) =>
            [1, 2].map(() => wire.post(`/sessions/${id}/tool_results`, resultFor(call, "18"))),
          ),
        );
      }
    };
    const read = async (id: string, number: number) => {
      const events: unknown[] = [];
      for (let connection = 0; ; connection++) {
        const cursor = number === 0 ? 0 : chance.integer(0, events.length);
        const from = cursor > 0 ? { headers: { "last-event-id": `${cursor - 1}` } } : {};
        const baseUrl = connection % 2 === 0 ? stack.baseUrl : spare.baseUrl;
        const stream = await readStream({ baseUrl, apiKey }, id, from).catch(() => null);
        if (!stream) continue;
        if (stream.status === 503) continue;
        expect([200, 204]).toContain(stream.status);
        const most = chance.integer(1, 40);
        await waitFor(() => stream.isOver || (number > 0 && stream.frames.length >= most), {
          what: "the frames",
          timeoutMs: 60_000,
        });
        stream.close();
        checkFrames(stream.frames, cursor);
        for (const [index, event] of eventsOf(stream.frames)) {
          if (index < events.length) expect(event).toEqual(events[index as number]);
          else expect(events.push(event) - 1).toBe(index);
        }
        const isEnded = stream.frames.some(
          ({ event, data }) => event === "state" && data.status === "completed",
        );
        if (isEnded || stream.status === 204) return events;
      }
    };

    const ids = await Promise.all(
      Array.from({ length: SESSIONS }, () =>
        wire.create({
          agent: { name: "x", tools: [weatherTool] },
          messages: "Weather?",
          stream: true,
          max_steps: 50,
        }),
      ),
    );
    const breaking = breakThings();
    const readers = ids.map((id) =>
      Promise.all(Array.from({ length: READERS }, (_, number) => read(id, number))),
    );
    const [seen] = await Promise.all([Promise.all(readers), Promise.all(ids.map(write))]).finally(() => {
      isOver = true;
    });
    await breaking;
    for (const [place, id] of ids.entries()) {
      const { new_events: events } = (await wire.get(`/sessions/${id}/changes`)).body;
      for (const each of seen[place] ?? []) expect(each, `seed ${seed}`).toEqual(events);
    }
    await stack.close();
  },
);
