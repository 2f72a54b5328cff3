import { listOfferedTools } from "@tandem/engine/domain/offered-tools";
import { describe, expect, it } from "vitest";

const plain = Array.from({ length: 125 }, (_, i) => ({ name: `plain_${i}`, description: "d" }));
const deferred = ["a", "b", "c", "d"].map((name) => ({ name, description: "d", defer_loading: true }));
const offer = (loaded: string[], model: string) =>
  listOfferedTools({
    agent: { model },
    tools: [...plain, ...deferred],
    history: { exhausted: new Map(), loaded: new Set(loaded) },
    mustAnswer: false,
  });
const names = (offered: ReturnType<typeof offer>) => offered.custom.slice(125).map(({ name }) => name);

describe("the tools of a request", () => {
  it("are no more than the provider takes: those that were found first make room", () => {
    const offered = offer(["c", "a", "d"], "openai/gpt-5");
    expect(names(offered)).toEqual(["a", "d"]);
    expect(offered.custom.length + offered.builtins.length).toBe(128);
  });

  it("are all that were found where the provider has no such limit", () => {
    expect(names(offer(["c", "a", "d"], "anthropic/claude"))).toEqual(["a", "c", "d"]);
  });
});
