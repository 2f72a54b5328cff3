// Environments as they may be sent: the reference's two kinds are checked, other kinds are taken as they are.
import { Type } from "@sinclair/typebox";
import type { EnvironmentDefinition } from "@tandem/engine/domain/agents";
import type { JsonObject } from "@tandem/engine/domain/json";
import { nullable, openObject, ref, stringEnum } from "./typebox.ts";

const id = Type.String({ minLength: 1, description: "Defaults to the kind." });
const side = Type.Integer({ exclusiveMinimum: 0, default: 1_200, description: "In pixels." });

export const BrowserVisualMode = Type.Object(
  {
    type: Type.Literal("visual"),
    width: Type.Optional(side),
    height: Type.Optional(side),
    markdown: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: "BrowserVisualMode" },
);

export const BrowserTextMode = Type.Object(
  {
    type: Type.Literal("text"),
    chunk_size: Type.Optional(Type.Integer({ exclusiveMinimum: 0, default: 20_000 })),
  },
  { $id: "BrowserTextMode" },
);

export const Browser = Type.Object(
  {
    id: Type.Optional(id),
    kind: Type.Optional(Type.Literal("web", { default: "web" })),
    host: Type.Optional(stringEnum(["user_device", "cloud"] as const, { default: "cloud" })),
    start_url: Type.Optional(Type.String()),
    headless: Type.Optional(Type.Boolean({ default: false })),
    session_id: Type.Optional(nullable(Type.String())),
    mode: Type.Optional(Type.Union([ref(BrowserVisualMode), ref(BrowserTextMode)])),
    lazy: Type.Optional(Type.Boolean({ default: false })),
    vault_id: Type.Optional(nullable(Type.String({ format: "uuid" }))),
    browser_profile_id: Type.Optional(nullable(Type.String({ format: "uuid" }))),
    use_default_browser_profile: Type.Optional(Type.Boolean({ default: false })),
    persist_browser_profile: Type.Optional(Type.Boolean({ default: false })),
    network: Type.Optional(nullable(openObject("A browser's proxy."))),
  },
  { $id: "Browser" },
);

export const Desktop = Type.Object(
  {
    id: Type.Optional(id),
    kind: Type.Literal("desktop"),
    host: Type.Optional(stringEnum(["user_device"] as const, { default: "user_device" })),
    session_id: Type.Optional(nullable(Type.String())),
  },
  { $id: "Desktop" },
);

export const OtherEnvironment = Type.Object(
  {
    id: Type.Optional(id),
    kind: Type.Unsafe<string>({ type: "string", minLength: 1, not: { enum: ["web", "desktop"] } }),
  },
  {
    $id: "OtherEnvironment",
    additionalProperties: true,
    description: "A kind that this server does not know.",
  },
);

export const Environment = Type.Unsafe<EnvironmentInput>(
  Type.Union([ref(Browser), ref(Desktop), ref(OtherEnvironment)], {
    $id: "Environment",
    description: "An environment. This server provides none; sessions say so in their events and go on.",
  }),
);

/** An environment as it may be sent. */
export type EnvironmentInput = JsonObject & { id?: string; kind?: string };

/** An environment with its defaults filled in. */
export function toEnvironment(sent: string | EnvironmentInput): string | EnvironmentDefinition {
  if (typeof sent === "string") return sent;
  const kind = sent.kind ?? "web";
  return { ...(kind === "desktop" ? { host: "user_device" } : {}), ...sent, id: sent.id ?? kind, kind };
}

/** The named schemas of environments. */
export const environmentSchemas = [
  BrowserVisualMode,
  BrowserTextMode,
  Browser,
  Desktop,
  OtherEnvironment,
  Environment,
];
