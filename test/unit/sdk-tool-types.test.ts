// What TypeScript makes of tools. `npm run check` fails when an inference here breaks; running it shows only that the
// definitions are taken.
import { Type } from "@sinclair/typebox";
import {
  combined,
  filtered,
  type Guardrail,
  prefixed,
  renamed,
  type Tool,
  type ToolContext,
  type Toolset,
  tool,
  toolset,
} from "@tandem/sdk";
import { describe, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { z as z3 } from "zod3";

const named = { name: "x", description: "d" };

describe("arguments of a tool are typed from", () => {
  it("a JSON Schema that is written in place", () => {
    tool({
      ...named,
      inputSchema: {
        type: "object",
        properties: {
          text: { type: "string", description: "Anything." },
          count: { type: "integer" },
          ratio: { type: "number" },
          flag: { type: "boolean" },
          unit: { enum: ["c", "f"] },
          kind: { const: "fixed" },
          none: { type: "null" },
          maybe: { type: ["string", "null"] },
          old: { type: "string", nullable: true },
          list: { type: "array", items: { type: "string" } },
          rows: {
            type: "array",
            items: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
          },
          pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
          either: { anyOf: [{ type: "string" }, { type: "number" }] },
          map: { type: "object", additionalProperties: { type: "number" } },
          free: {},
        },
        required: ["text", "unit", "maybe", "list", "rows", "pair", "either", "map", "old", "kind", "none"],
      },
      fn: (args) => {
        expectTypeOf(args).toEqualTypeOf<{
          text: string;
          count?: number;
          ratio?: number;
          flag?: boolean;
          unit: "c" | "f";
          kind: "fixed";
          none: null;
          maybe: string | null;
          old: string | null;
          list: string[];
          rows: { n: number }[];
          pair: [string, number];
          either: string | number;
          map: Record<string, number>;
          free?: unknown;
        }>();
        return args.text;
      },
    });
  });

  it("a JSON Schema with `as const`, and one that TypeBox makes", () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
    tool({ ...named, inputSchema: schema, fn: (args) => expectTypeOf(args).toEqualTypeOf<{ a: string }>() });
    const box = Type.Object({ a: Type.String(), b: Type.Optional(Type.Number()) });
    tool({
      ...named,
      inputSchema: box,
      fn: (args) => expectTypeOf(args).toEqualTypeOf<{ a: string; b?: number }>(),
    });
  });

  it("a JSON Schema of which nothing is known", () => {
    const schema: Record<string, unknown> = { type: "object" };
    tool({
      ...named,
      inputSchema: schema,
      fn: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>(),
    });
  });

  it("Zod 4 and Zod 3: the type after defaults and transforms", () => {
    interface Args {
      city: string;
      days: number;
      length: number;
    }
    tool({
      ...named,
      inputSchema: z.object({
        city: z.string(),
        days: z.number().default(3),
        length: z.string().transform((text) => text.length),
      }),
      examples: [{ city: "Oslo", length: "abc" }],
      requiresApproval: ({ days }) => days > 3,
      fn: (args) => expectTypeOf(args).toEqualTypeOf<Args>(),
    });
    tool({
      ...named,
      inputSchema: z3.object({
        city: z3.string(),
        days: z3.number().default(3),
        length: z3.string().transform((text) => text.length),
      }),
      examples: [{ city: "Oslo", length: "abc" }],
      requiresApproval: ({ days }) => days > 3,
      fn: (args) => expectTypeOf(args).toEqualTypeOf<Args>(),
    });
  });

  it("the type that is named, with or without a schema", () => {
    tool<{ n: number }>({ ...named, fn: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>() });
    tool<{ n: number }>({
      ...named,
      inputSchema: { type: "object", properties: { n: { type: "number" } } },
      examples: [{ n: 1 }],
      fn: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number }>(),
    });
    tool({ ...named, fn: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>() });
  });
});

describe("a tool", () => {
  it("is one of a list, whatever its arguments", () => {
    const one = tool({ ...named, inputSchema: z.object({ a: z.string() }), fn: ({ a }) => a });
    expectTypeOf(one).toEqualTypeOf<Tool<{ a: string }>>();
    expectTypeOf(one).toExtend<Tool>();
  });

  it("refuses what its schema does not say", () => {
    tool({
      ...named,
      inputSchema: { type: "object", properties: { a: { type: "string" } } },
      // @ts-expect-error there is no `b`
      fn: ({ b }) => b,
    });
    // @ts-expect-error `a` is a text
    tool({
      ...named,
      inputSchema: z.object({ a: z.string() }),
      examples: [{ a: 1 }],
      fn: ({ a }) => a,
    });
  });

  it("takes guardrails of its arguments, and of any value", () => {
    const any: Guardrail = { name: "any", run: () => ({ verdict: "allow", message: null }) };
    const short: Guardrail<{ a: string }> = {
      name: "short",
      run: ({ a }) =>
        a.length < 9 ? { verdict: "allow", message: null } : { verdict: "reject", message: "long" },
    };
    const inputSchema = z.object({ a: z.string() });
    tool({ ...named, inputSchema, inputGuardrails: [any, short], outputGuardrails: [any], fn: ({ a }) => a });
  });

  it("has the context of the run as the type that its function names", () => {
    tool({
      ...named,
      inputSchema: z.object({ a: z.string() }),
      fn: ({ a }, { context }: ToolContext<{ user: string }>) => {
        expectTypeOf(a).toEqualTypeOf<string>();
        expectTypeOf(context.user).toEqualTypeOf<string>();
        return a;
      },
    });
  });

  it("can be an async generator", () => {
    tool({
      ...named,
      inputSchema: z.object({ n: z.number() }),
      async *fn({ n }) {
        expectTypeOf(n).toEqualTypeOf<number>();
        yield n;
      },
    });
  });
});

describe("a toolset", () => {
  const set = toolset({
    weather: {
      forecast: {
        description: "d",
        inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        examples: [{ city: "Oslo" }],
        timeoutMs: 500,
        execute: ({ city }, { signal }) => {
          expectTypeOf(city).toEqualTypeOf<string>();
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
          return city;
        },
      },
      history: {
        description: "d",
        inputSchema: z.object({ days: z.number().default(1) }),
        execute: ({ days }) => expectTypeOf(days).toEqualTypeOf<number>(),
      },
    },
    mail: {
      send: {
        description: "d",
        inputSchema: z3.object({ to: z3.string() }),
        async *execute({ to }) {
          expectTypeOf(to).toEqualTypeOf<string>();
          yield to;
        },
      },
    },
  });

  it("knows the names of its tools", () => {
    expectTypeOf(set).toEqualTypeOf<Toolset<"weather_forecast" | "weather_history" | "mail_send">>();
    expectTypeOf(prefixed(set, "my_")).toEqualTypeOf<
      Toolset<"my_weather_forecast" | "my_weather_history" | "my_mail_send">
    >();
    expectTypeOf(filtered(set, ["mail_send"])).toEqualTypeOf<Toolset<"mail_send">>();
    expectTypeOf(filtered(set, ({ name }) => name.length > 3)).toEqualTypeOf(set);
    expectTypeOf(renamed(set, { mail_send: "post" })).toEqualTypeOf<
      Toolset<"weather_forecast" | "weather_history" | "post">
    >();
    expectTypeOf(combined(filtered(set, ["mail_send"]), prefixed(set, "x_"))).toExtend<Toolset>();
  });

  it("refuses names that it does not have", () => {
    // @ts-expect-error there is no such tool
    () => filtered(set, ["mail_read"]);
    // @ts-expect-error there is no such tool
    () => renamed(set, { mail_read: "x" });
  });
});
