// What a worker remembers of sessions, and what it is told of their next steps.
import { createKnownSessions, type KnownSession } from "@tandem/engine/handover/known-sessions";
import { readNews, toKnownStep, toNews } from "@tandem/engine/handover/step-news";
import type { SessionRow } from "@tandem/engine/postgres/session-row";
import { describe, expect, it } from "vitest";

const terms = {
  agent: { name: "x" },
  ...{ tools: [], toolsVersion: 1, maxSteps: null, repeatLimit: null, errorLimit: null, tokenBudget: null },
} as unknown as KnownSession["terms"];

const said = (index: number, text: string) => ({ index, type: "AgentEvent", data: { text }, internal: null });
const known = (text = "said", nextIndex = 5): KnownSession => ({ terms, nextIndex, events: [said(4, text)] });

/** A row as it is after two events were written with it. */
const row = {
  ...{ id: "s", nextIndex: 7, toolsVersion: 1, fence: 3, status: "running" },
  timerAt: new Date("2026-11-30T12:00:00Z"),
} as SessionRow;
const appended = [
  { type: "AgentEvent", data: { text: "18 °C" }, internal: { edited: true } },
  { type: "ActiveStateChangeEvent", data: {} },
];

describe("news", () => {
  it("and what is known make the step that the database holds", () => {
    const step = toKnownStep(known(), readNews(toNews(row, appended)));
    expect(step?.session).toMatchObject({ ...row, ...terms, claims: 1 });
    expect(step?.session.timerAt).toEqual(row.timerAt);
    expect(step?.events).toEqual([
      said(4, "said"),
      { index: 5, type: "AgentEvent", data: { text: "18 °C" }, internal: { edited: true } },
    ]);
  });

  it("do not follow what is known when something lies between, the tools are others, or they are old", () => {
    const news = readNews(toNews(row, appended));
    expect(toKnownStep(known("said", 4), news)).toBeNull();
    expect(toKnownStep({ ...known(), terms: { ...terms, toolsVersion: 0 } }, news)).toBeNull();
    expect(toKnownStep(null, news)).toBeNull();
    expect(toKnownStep(known(), null)).toBeNull();
    expect(toKnownStep(known(), news && { ...news, toldAt: news.toldAt - 2_000 })).toBeNull();
  });

  it("that are too much for a note are none", () => {
    const large = [{ type: "AgentEvent", data: { text: "🦜".repeat(2_000) } }];
    expect(toNews(row, large)).toBe("");
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
    const sessions = createKnownSessions({ all: 2_500, one: 1_200 });
    for (const id of ["a", "b", "a", "c"]) sessions.remember(id, known(text));
    sessions.remember("large", known(text + text));
    expect(["a", "b", "c", "large"].filter((id) => sessions.take(id))).toEqual(["a", "c"]);
    // What was taken has made room.
    for (const id of ["d", "e"]) sessions.remember(id, known(text));
    expect(["d", "e"].filter((id) => sessions.take(id))).toEqual(["d", "e"]);
  });
});
