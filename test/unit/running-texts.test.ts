// What is told of a running text may come twice, late, in parts, or from a worker that has lost its claim.
import { createRunningTexts } from "@tandem/api/streaming/running-texts";
import { readStreamNote, toTextNotes } from "@tandem/engine/wake/stream-notes";
import { tellText } from "@tandem/worker/streaming/tell-text";
import { createWatchedSessions } from "@tandem/worker/streaming/watched-sessions";
import { afterEach, describe, expect, it, vi } from "vitest";

const sessionId = "3b6f2f3e-58a7-4a4f-9d39-0b7c0f6f8d11";
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
  vi.useRealTimers();
});

/** A channel that tells at once, and says what was told. */
function createChannel() {
  const hearers = new Set<(text: string) => void>();
  const reopened = new Set<() => void>();
  const told: string[] = [];
  let isLossy = false;
  return {
    told,
    lose: (lossy: boolean) => {
      isLossy = lossy;
    },
    reopen: () => {
      for (const listener of reopened) listener();
    },
    wake: {
      tell(text: string) {
        told.push(text);
        if (!isLossy) for (const hear of hearers) hear(text);
      },
      hear(listener: (text: string) => void) {
        hearers.add(listener);
        return () => hearers.delete(listener);
      },
      onReopen(listener: () => void) {
        reopened.add(listener);
        return () => reopened.delete(listener);
      },
    },
  };
}

function openReader() {
  const channel = createChannel();
  const texts = createRunningTexts(channel.wake);
  closers.push(() => texts.close());
  const note = (offset: number, text: string, fence = 5, step = 1) => {
    for (const piece of toTextNotes({ sessionId, step, fence, offset, text })) channel.wake.tell(piece);
  };
  const watches = () =>
    channel.told.map((text) => readStreamNote(text)).filter((found) => found?.kind === "watch");
  return { channel, texts, note, watches };
}

describe("a followed text", () => {
  it("is put together from pieces, those that come twice or overlap counted once", () => {
    const { texts, note } = openReader();
    const follower = texts.follow(sessionId.toUpperCase(), () => undefined);
    note(0, "One ");
    note(0, "One ");
    note(0, "One two ");
    note(4, "two three");
    expect(follower.running).toEqual({ step: 1, fence: 5, text: "One two three" });
  });

  it("asks for what it missed, from where it is, and takes nothing behind the gap before", () => {
    const { texts, note, watches } = openReader();
    const follower = texts.follow(sessionId, () => undefined);
    note(0, "One ");
    note(10, "four");
    expect(follower.running?.text).toBe("One ");
    expect(watches()).toEqual([
      { kind: "watch", sessionId, fence: 0, length: 0 },
      { kind: "watch", sessionId, fence: 5, length: 4 },
    ]);
  });

  it("is of the latest claim: it begins anew with a later one, and one that was lost is not heard", () => {
    const { texts, note } = openReader();
    const follower = texts.follow(sessionId, () => undefined);
    note(0, "Old", 5);
    note(0, "New", 6);
    note(3, " and more", 5);
    expect(follower.running).toEqual({ step: 1, fence: 6, text: "New" });
  });

  it("is over when its step has ended, and what is told of it later is dropped", () => {
    const { texts, note } = openReader();
    let calls = 0;
    const follower = texts.follow(sessionId, () => calls++);
    note(0, "One");
    follower.settle(0);
    expect(follower.running?.text).toBe("One");
    follower.settle(1);
    note(3, " late");
    expect([follower.running, calls]).toEqual([null, 1]);
    note(0, "Two", 6, 2);
    expect(follower.running?.text).toBe("Two");
  });

  it("is not held when nobody follows it", () => {
    const { texts, note } = openReader();
    texts.follow(sessionId, () => undefined).stop();
    note(0, "One");
    expect(texts.follow(sessionId, () => undefined).running).toBe(null);
  });

  it("is watched anew every 10 s, and when the channel opens again", () => {
    vi.useFakeTimers();
    const { channel, texts, watches } = openReader();
    const follower = texts.follow(sessionId, () => undefined);
    vi.advanceTimersByTime(20_000);
    channel.reopen();
    expect(watches()).toHaveLength(4);
    follower.stop();
    vi.advanceTimersByTime(20_000);
    expect(watches()).toHaveLength(4);
  });
});

function openWorker() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  const { channel, texts } = openReader();
  const watched = createWatchedSessions(channel.wake);
  closers.push(() => watched.close());
  const begin = (fence = 5) => tellText({ wake: channel.wake, watched }, { sessionId, step: 1, fence });
  const pieces = () =>
    channel.told.map((text) => readStreamNote(text)).filter((found) => found?.kind === "text");
  return { channel, texts, watched, begin, pieces };
}

describe("the text of a request", () => {
  it("is told to nobody while nobody watches, and all of it to one who comes late", () => {
    const { texts, begin, pieces } = openWorker();
    const told = begin();
    told.add("One ");
    vi.advanceTimersByTime(1_000);
    expect(pieces()).toMatchObject([{ text: "" }]);
    const follower = texts.follow(sessionId, () => undefined);
    vi.advanceTimersByTime(50);
    expect(follower.running?.text).toBe("One ");
    told.add("two");
    told.end();
    expect(follower.running?.text).toBe("One two");
  });

  it("is gathered for 50 ms, and told to its end when it ends", () => {
    const { texts, begin, pieces } = openWorker();
    texts.follow(sessionId, () => undefined);
    const told = begin();
    for (let i = 0; i < 100; i++) {
      told.add("x");
      vi.advanceTimersByTime(10);
    }
    told.add("y");
    told.end();
    expect(
      pieces()
        .map((piece) => piece?.text)
        .join(""),
    ).toBe(`${"x".repeat(100)}y`);
    expect(pieces().length).toBeLessThanOrEqual(23);
    expect(pieces().length).toBeGreaterThan(15);
  });

  it("is told again from where a reader is that missed some", () => {
    const { channel, texts, begin } = openWorker();
    const follower = texts.follow(sessionId, () => undefined);
    const told = begin();
    told.add("One ");
    vi.advanceTimersByTime(50);
    channel.lose(true);
    told.add("two ");
    vi.advanceTimersByTime(50);
    channel.lose(false);
    told.add("three ");
    vi.advanceTimersByTime(50);
    vi.advanceTimersByTime(50);
    expect(follower.running?.text).toBe("One two three ");
    told.end();
  });

  it("is told by a worker that has never heard of its watcher, from the beginning", () => {
    const { channel, texts } = openReader();
    const follower = texts.follow(sessionId, () => undefined);
    const watched = createWatchedSessions(channel.wake);
    closers.push(() => watched.close());
    const told = tellText({ wake: channel.wake, watched }, { sessionId, step: 1, fence: 5 });
    told.add("One");
    told.end();
    expect(follower.running?.text).toBe("One");
  });

  it("is told in parts when it is long, and never with half of a pair of surrogates", () => {
    const { texts, begin, pieces } = openWorker();
    const told = begin();
    told.add("🦀".repeat(50_000));
    told.add("\ud83e");
    const follower = texts.follow(sessionId, () => undefined);
    vi.advanceTimersByTime(50);
    expect(follower.running?.text.length).toBeLessThanOrEqual(64_000);
    vi.advanceTimersByTime(1_000);
    expect(follower.running?.text).toBe("🦀".repeat(50_000));
    told.add("\udd80");
    vi.advanceTimersByTime(50);
    expect(follower.running?.text).toBe("🦀".repeat(50_001));
    expect(pieces().every((piece) => piece?.kind === "text" && piece.text.isWellFormed())).toBe(true);
    told.end();
  });

  it("is told for 30 s after the last word of a watcher", () => {
    const { texts, watched, begin } = openWorker();
    const follower = texts.follow(sessionId, () => undefined);
    follower.stop();
    expect(watched.isWatched(sessionId)).toBe(true);
    vi.advanceTimersByTime(31_000);
    expect(watched.isWatched(sessionId)).toBe(false);
    const told = begin();
    told.end();
  });
});
