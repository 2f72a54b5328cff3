// What a worker remembers of sessions, and what it is told of their next steps.
import { createKnownSessions, type KnownSession } from "@tandem/engine/handover/known-sessions";
import { readNews, toKnownStep, toNews } from "@tandem/engine/handover/step-news";
import { describe, expect, it, onTestFinished, vi } from "vitest";

const terms = {
  agent: { name: "x" },
  ...{ tools: [], maxSteps: null, repeatLimit: null, errorLimit: null, tokenBudget: null },
} as unknown as KnownSession["terms"];

const said = (index: number, text: string) => ({ index, type: "AgentEvent", data: { text }, internal: null });
const known = (text = "said", version = "10"): KnownSession => ({ terms, version, events: [said(4, text)] });

/** A row as it is after two events were written with it, and as the database tells it. */
const fields = { id: "s", nextIndex: 7, toolsVersion: 1, fence: 3, status: "running" };
const row = { ...fields, timerAt: new Date("2026-11-30T12:00:00.123Z"), callDeadlineAt: null };
const json = `${JSON.stringify(fields).slice(0, -1)}, "timerAt": "2026-11-30T12:00:00.123456+00:00", "callDeadlineAt" : null}`;
const claimed = { json, nextIndex: 7 };
const appended = [
  { type: "AgentEvent", data: { text: "18 °C" }, internal: { edited: true } },
  { type: "ActiveStateChangeEvent", data: {} },
];

describe("news", () => {
  it("and what is known make the step that the database holds", () => {
    const step = toKnownStep(known(), readNews(toNews(claimed, "10", appended)));
    expect(step?.session).toMatchObject({ ...row, ...terms, claims: 1 });
    expect(step?.session.timerAt).toEqual(row.timerAt);
    expect(step?.events).toEqual([
      said(4, "said"),
      { index: 5, type: "AgentEvent", data: { text: "18 °C" }, internal: { edited: true } },
    ]);
  });

  it("do not follow what is known when something lies between, or they are old", () => {
    const news = readNews(toNews(claimed, "10", appended));
    expect(toKnownStep(known("said", "9"), news)).toBeNull();
    expect(toKnownStep(null, news)).toBeNull();
    expect(toKnownStep(known(), null)).toBeNull();
    expect(toKnownStep(known(), news && { ...news, toldAt: news.toldAt - 2_000 })).toBeNull();
  });

  it("that are too much for a note are none", () => {
    const large = [{ type: "AgentEvent", data: { text: "🦜".repeat(2_000) } }];
    expect(toNews(claimed, "10", large)).toBe("");
    expect(readNews("")).toBeNull();
  });
});

describe("known sessions", () => {
  it("are given once", () => {
    const sessions = createKnownSessions();
    sessions.remember("a", known());
    expect([sessions.take("a"), sessions.take("a")]).toEqual([known(), null]);
  });

  it("are forgotten in their order when there is no more room, and one that is too large at once", () => {
    const text = "x".repeat(1_000);
    const sessions = createKnownSessions({ all: 2_500, one: 1_200, ageMs: 60_000 });
    for (const id of ["a", "b", "a", "c"]) sessions.remember(id, known(text));
    sessions.remember("large", known(text + text));
    expect(["a", "b", "c", "large"].filter((id) => sessions.take(id))).toEqual(["a", "c"]);
    // What was taken has made room.
    for (const id of ["d", "e"]) sessions.remember(id, known(text));
    expect(["d", "e"].filter((id) => sessions.take(id))).toEqual(["d", "e"]);
  });

  it("are forgotten in time, though nobody asks for them and no others come", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const sessions = createKnownSessions();
    sessions.remember("a", known());
    vi.advanceTimersByTime(59_000);
    sessions.remember("b", known());
    vi.advanceTimersByTime(2_000);
    expect([sessions.take("a"), sessions.take("b")]).toEqual([null, known()]);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
