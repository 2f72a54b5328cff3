import { type Static, Type } from "@sinclair/typebox";
import { AGENT_SETTINGS, type AgentSettings, APPROVAL_DEFAULTS } from "@tandem/engine/domain/agent-settings";
import { AGENT_NAME_PATTERN, type AgentDefinition } from "@tandem/engine/domain/agents";
import type { JsonObject } from "@tandem/engine/domain/json";
import { agentSettings } from "./agent-settings.ts";
import { Environment, type EnvironmentInput, environmentSchemas, toEnvironment } from "./environments.ts";
import { ToolDefinition } from "./tool-definitions.ts";
import { nullable, openObject, ref, stringEnum } from "./typebox.ts";

export const Skill = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    description: Type.String({ minLength: 1 }),
    body: Type.String({ minLength: 1 }),
    source: Type.Optional(nullable(Type.String())),
    url_pattern: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 1024 }))),
  },
  { $id: "Skill" },
);

/** Most environments, skills or subagents of an agent. */
const MAX_PARTS = 64;

const parts = {
  environments: Type.Array(Type.Union([Type.String({ minLength: 1 }), ref(Environment)]), {
    maxItems: MAX_PARTS,
    description: "Names of registered environments, or definitions.",
  }),
  model: nullable(Type.String(), { description: "`provider/model`; null takes the server's default." }),
  instructions: nullable(Type.String(), { description: "What the agent is told before the messages." }),
  subagents: nullable(
    Type.Array(Type.Union([Type.String(), Type.Unsafe<AgentInput>({ $ref: "Agent#" })]), {
      maxItems: MAX_PARTS,
    }),
    {
      description: "Names of registered agents, or definitions.",
    },
  ),
  skills: nullable(Type.Array(Type.Union([Type.String(), ref(Skill)]), { maxItems: MAX_PARTS })),
  answer_format: nullable(openObject("JSON Schema of the answer."), {
    description: "JSON Schema that the final answer must fit.",
  }),
  tools: nullable(Type.Array(ref(ToolDefinition)), {
    description: "Tools that run in the caller's process.",
  }),
  approval: nullable(stringEnum(APPROVAL_DEFAULTS), {
    description:
      "Which of its tools need approval that do not say: none (`never`, the default), those with the capability " +
      "`actuator`, or all (`always`).",
  }),
};

const name = Type.String({
  minLength: 1,
  maxLength: 127,
  pattern: AGENT_NAME_PATTERN,
  errorHint: "lowercase letters, digits and hyphens, alphanumeric at both ends, at most one `prefix/`",
  description: "Lowercase letters, digits and hyphens; at most one `prefix/`.",
});
const description = Type.String({ minLength: 1, description: "What the agent is for." });

const optionalParts = {
  environments: Type.Optional(parts.environments),
  model: Type.Optional(parts.model),
  instructions: Type.Optional(parts.instructions),
  subagents: Type.Optional(parts.subagents),
  skills: Type.Optional(parts.skills),
  answer_format: Type.Optional(parts.answer_format),
  tools: Type.Optional(parts.tools),
  approval: Type.Optional(parts.approval),
  ...agentSettings,
};

/** An agent as it may be sent inside a request. */
export interface AgentInput extends AgentSettings {
  name: string;
  description?: string;
  environments?: (string | EnvironmentInput)[];
  model?: string | null;
  instructions?: string | null;
  subagents?: (string | AgentInput)[] | null;
  skills?: (string | Static<typeof Skill>)[] | null;
  answer_format?: JsonObject | null;
  tools?: Static<typeof ToolDefinition>[] | null;
  approval?: AgentDefinition["approval"];
}

/** An agent in a request: only the name is required. */
export const Agent = Type.Unsafe<AgentInput>(
  Type.Object(
    { name, description: Type.Optional(description), ...optionalParts },
    {
      $id: "Agent",
      description: "An agent. In a session's request only the name is required.",
      examples: [
        {
          name: "support",
          description: "Answers questions about orders.",
          instructions: "Look orders up before you answer.",
          environments: [],
        },
      ],
    },
  ),
);

/** An agent that is being registered: people find it by its description, so it needs one. */
export const NewAgent = Type.Unsafe<AgentInput & { description: string }>(
  Type.Object(
    { name, description, ...optionalParts },
    {
      $id: "NewAgent",
      examples: [
        {
          name: "acme/support",
          description: "Answers questions about orders.",
          instructions: "Look orders up before you answer.",
          environments: [],
        },
      ],
    },
  ),
);

/** An agent as it is stored and shown. */
export const StoredAgent = Type.Unsafe<AgentDefinition>(
  Type.Object(
    { name, description, environments: parts.environments, ...omitEnvironments(optionalParts) },
    { $id: "StoredAgent" },
  ),
);

function omitEnvironments<T extends { environments: unknown }>({ environments: _, ...others }: T) {
  return others;
}

export const PatchAgent = Type.Object(
  {
    description: Type.Optional(nullable(description)),
    ...optionalParts,
    environments: Type.Optional(nullable(parts.environments)),
  },
  { $id: "PatchAgent", examples: [{ instructions: "Answer in one sentence." }] },
);

/** The fields of an agent that are kept; what else was sent is not. */
const FIELDS = [
  "model",
  "instructions",
  "subagents",
  "skills",
  "answer_format",
  "tools",
  "approval",
  ...AGENT_SETTINGS,
] as const;

/** A sent agent with its defaults filled in: the description is the name, an environment's id its kind. */
export function toAgentDefinition(sent: AgentInput): AgentDefinition {
  const known = Object.fromEntries(
    FIELDS.flatMap((key) => (sent[key] === undefined ? [] : [[key, sent[key]]])),
  );
  return {
    name: sent.name,
    description: sent.description ?? sent.name,
    environments: (sent.environments ?? []).map(toEnvironment),
    ...known,
    ...(sent.subagents
      ? {
          subagents: sent.subagents.map((entry) =>
            typeof entry === "string" ? entry : toAgentDefinition(entry),
          ),
        }
      : {}),
  };
}

export const agentSchemas = [
  ToolDefinition,
  Skill,
  ...environmentSchemas,
  Agent,
  NewAgent,
  StoredAgent,
  PatchAgent,
];
