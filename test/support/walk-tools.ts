// The tools of a random walk: each waits for something else, for another time. Times in seconds.
import type { ToolDefinition } from "@tandem/engine/domain/tools";
import { bareTools } from "./bare-engine.ts";

const guarded = { description: "Needs an approval.", approval: "always" } as const;
const fetch = { name: "fetch", description: "Gives up.", timeout_s: 650 };
const must = { name: "must", description: "Must not be late.", timeout_s: 450, on_timeout: "fail" };
const pay = {
  ...guarded,
  name: "pay",
  timeout_s: 650,
  input_schema: { type: "object", properties: { n: { type: "integer" } } },
};
const send = { ...guarded, name: "send", approval_timeout_s: 350 };
const sign = {
  ...guarded,
  ...{ name: "sign", approval_timeout_s: 250, on_approval_timeout: "allow" },
  ...{ timeout_s: 450, on_timeout: "fail" },
};

const asTools = (tools: readonly object[]) => tools as readonly ToolDefinition[];

/** What the tools of a session can be; `second` replaces one, frees one, and lacks one. */
export const TOOLSETS = {
  first: asTools([...bareTools, fetch, must, pay, send, sign]),
  second: asTools([
    ...[...bareTools, must, sign],
    { ...pay, description: "Another one." },
    { ...send, approval: "never" },
  ]),
};

/** One of {@link TOOLSETS}. */
export type Toolset = keyof typeof TOOLSETS;

/** Names of tools that a walk's model calls. */
export const CALLED = [...bareTools, fetch, must, pay, send, sign].map(({ name }) => name);

/** Arguments that a call comes with, and those that its approval may put in their place; the last fit not every tool. */
export const ARGUMENTS = ['{"n":1}', '{"n":2}', '{"n":"x"}'] as const;

/** The tool of this name in a toolset; undefined when it has none. */
export const findTool = (tools: Toolset, name: string) => TOOLSETS[tools].find((tool) => tool.name === name);

/** Whether arguments fit a tool, which only one of them minds. */
export const fitsTool = (tool: ToolDefinition, args: string) =>
  tool.input_schema === undefined || Number.isInteger(JSON.parse(args).n);
