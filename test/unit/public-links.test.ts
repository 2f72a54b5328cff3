import { prefersHtml } from "@tandem/api/sharing/prefers-html";
import { toSharedPage } from "@tandem/api/sharing/shared-page";
import { isShareToken, newShareToken } from "@tandem/engine/domain/ids";
import { describe, expect, it } from "vitest";

describe("whoever asks for a public link", () => {
  it.each([
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
    ["TEXT/HTML", true],
    ["text/*", true],
    ["application/json;q=0.5, text/html;q=0.6", true],
    ["*/*;q=0.9, application/json;q=0.1", true],
    [undefined, false],
    ["", false],
    ["*/*", false],
    ["application/json", false],
    ["text/html, application/json", false],
    ["text/html;q=0.5, application/json", false],
    ["text/html;q=0", false],
    ["text/html;q=x", false],
    ["image/png", false],
  ])("with Accept %j gets the page: %j", (accept, wanted) => expect(prefersHtml(accept)).toBe(wanted));
});

describe("a share token", () => {
  it("is new each time and known as one", () => {
    const tokens = new Set(Array.from({ length: 1_000 }, newShareToken));
    expect(tokens.size).toBe(1_000);
    expect([...tokens].every(isShareToken)).toBe(true);
  });

  it.each(["", "x".repeat(31), "x".repeat(33), `${"x".repeat(31)}\n`, `${"x".repeat(32)}\n`, "é".repeat(32)])(
    "is not %j",
    (text) => expect(isShareToken(text)).toBe(false),
  );
});

describe("the page of a shared session", () => {
  const show = (data: object, rest: object = {}) =>
    toSharedPage({
      token: "t",
      status: "completed",
      error: null,
      events: JSON.stringify({ timestamp: "now", type: "AgentEvent", data }),
      total: 1,
      page: 1,
      size: 200,
      ...rest,
    });

  it.each([
    [{ kind: "answer_event", answer: "It is <b>.", outcome: null }, "<pre>It is &lt;b&gt;.</pre>"],
    [{ kind: "answer_event", answer: { a: 1 } }, "&quot;a&quot;:1"],
    [
      { kind: "message_event", content: ["Hi.", { type: "base64", source: "secret" }] },
      "<pre>Hi.\n[image]</pre>",
    ],
    [
      { kind: "policy_event", content: "Let me look.", tool_reqs: [{ tool_name: "f", args: { a: "<" } }] },
      "<pre>Let me look.\nf {&quot;a&quot;:&quot;&lt;&quot;}</pre>",
    ],
    [{ kind: "<i>" }, "<p>&lt;i&gt; <small>now</small></p></section>"],
  ])("shows %j", (data, wanted) => expect(show(data)).toContain(wanted));

  it("shows a session's error, and the beginning of an event that was cut", () => {
    expect(show({}, { error: "It's <gone>" })).toContain("<pre>It&#39;s &lt;gone&gt;</pre>");
    expect(show({ cut: '{"answer":"<b>xxx' })).toContain(
      "<pre>{&quot;answer&quot;:&quot;&lt;b&gt;xxx…</pre>",
    );
  });

  it("is there without events too", () => {
    expect(show({}, { events: null, total: 0 })).toContain("0 events");
  });
});
