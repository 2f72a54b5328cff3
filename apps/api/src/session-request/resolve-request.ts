// From a sent request to what is stored and what runs.
import { findSettingFaults, pickSettings } from "@tandem/engine/domain/agent-settings";
import type { AgentDefinition } from "@tandem/engine/domain/agents";
import { type Fault, invalidRequest, TandemError } from "@tandem/engine/domain/errors";
import { hasExactNumber, isJsonObject, type JsonObject } from "@tandem/engine/domain/json";
import { findSchemaFault } from "@tandem/engine/domain/json-schema";
import { findModelFault, type ModelSettings } from "@tandem/engine/domain/models";
import { findProviderFaults } from "@tandem/engine/domain/provider-faults";
import type { SessionRequest } from "@tandem/engine/domain/session-request";
import { findToolFaults, type ToolDefinition } from "@tandem/engine/domain/tools";
import { compileFragment } from "../plugins/validation.ts";
import { Agent, type AgentInput, toAgentDefinition } from "../schemas/agents.ts";
import { toUserMessage } from "../schemas/messages.ts";
import {
  DEFAULT_DELETE_AFTER_MIN,
  DEFAULT_ERROR_LIMIT,
  DEFAULT_REPEAT_LIMIT,
  type SessionRequestInput,
} from "../schemas/session-request.ts";
import { ref } from "../schemas/typebox.ts";
import { applyOverrides } from "./apply-overrides.ts";

/** A request in both forms: normalised, as it is shown, and resolved, as it runs. */
export interface ResolvedRequest {
  request: SessionRequest;
  agent: AgentDefinition;
}

/**
 * Finds the agent, applies the overrides, fills in the defaults, and checks tools, answer format and model.
 *
 * @param findAgent looks a registered agent up; throws when there is none
 * @throws {TandemError} `invalid_request` with the place of the fault
 */
export async function resolveRequest(
  sent: SessionRequestInput,
  options: { models: ModelSettings; findAgent: (name: string) => Promise<AgentDefinition> },
): Promise<ResolvedRequest> {
  refuse(findMisplaced(sent));
  const base =
    typeof sent.agent === "string" ? await options.findAgent(sent.agent) : toAgentDefinition(sent.agent);
  if (typeof sent.agent !== "string") refuse(findAgentFaults(base, ["body", "agent"]));
  const overrides = sent.overrides ?? {};
  const addedTools = overrides["agent.tools"];
  const overridden = applyOverrides({ ...sent, agent: base } as unknown as JsonObject, overrides);
  if (Array.isArray(addedTools)) {
    refuse(findToolFaults(addedTools as unknown as ToolDefinition[], ["body", "overrides", "agent.tools"]));
  }
  const result = overridden as unknown as SessionRequestInput & { agent: AgentInput };
  const fault = checkAgent(result.agent, ["body", "overrides"]);
  refuse(fault ? [fault] : []);
  const agent = toAgentDefinition(result.agent);
  refuse(findAgentFaults(agent, ["body", "overrides"]));
  refuse(findNumberFaults(result));
  const request = normalise({ ...result, agent: sent.agent, overrides });
  const model = chooseModel(
    agent.model,
    isJsonObject(sent.agent) ? ["body", "agent", "model"] : ["body", "agent"],
    options.models,
  );
  const place = Object.keys(overrides).length > 0 ? "overrides" : "agent";
  refuse(findProviderFaults(agent, model, ["body", place]));
  const settings = pickSettings(request);
  const resolved = { ...agent, ...settings, model };
  const placeOf = (setting: string | number = "") => (Object.hasOwn(settings, setting) ? [] : ["agent"]);
  const settingFaults = findSettingFaults(resolved, []);
  refuse(settingFaults.map(({ loc, ...rest }) => ({ ...rest, loc: ["body", ...placeOf(loc[0]), ...loc] })));
  return { request, agent: resolved };
}

/** Fields that nobody knows are passed over. This one is easily put here, and calls would run that were not to. */
function findMisplaced(sent: object): Fault[] {
  if (!("approval" in sent)) return [];
  const msg = "approval is a field of the agent: set it there, or as the override agent.approval";
  return [{ loc: ["body", "approval"], msg, type: "approval_misplaced" }];
}

/** Each override fits its place by itself; together they must still make an agent. */
const checkAgent = compileFragment(ref(Agent));

/** What is wrong with an agent that is registered; what its model's provider refuses, when it names one, too. */
export function findStoredAgentFaults(agent: AgentDefinition, loc: (string | number)[]): Fault[] {
  const faults = findAgentFaults(agent, loc);
  return faults.length > 0 ? faults : findProviderFaults(agent, agent.model ?? "", loc);
}

/** What is wrong with tools that are to replace those of a session. `tool_choice` is for a first step, and may name none. */
export function findReplacementFaults(agent: AgentDefinition): Fault[] {
  const tools = agent.tools ?? [];
  const faults = findToolFaults(tools, ["body", "tools"]);
  if (faults.length > 0) return faults;
  // The setting is not in the body: what stands against it is the tool.
  const loc = ["body", "tools", tools.findIndex((tool) => tool.defer_loading), "defer_loading"];
  const settingFaults = findSettingFaults({ ...agent, tool_choice: null }, []).map((fault) => ({
    ...fault,
    loc,
  }));
  return [...findProviderFaults({ tools }, agent.model ?? "", ["body"]), ...settingFaults];
}

/** What is wrong with an agent's tools, environments and answer format, whatever its model. */
function findAgentFaults(agent: AgentDefinition, loc: (string | number)[]): Fault[] {
  const faults = [
    ...findToolFaults(agent.tools ?? [], [...loc, "tools"]),
    ...findEnvironmentFaults(agent, loc),
  ];
  const fault = agent.answer_format ? findSchemaFault(agent.answer_format) : null;
  if (!fault) return faults;
  const place = [...loc, "answer_format", ...fault.path];
  return [...faults, { loc: place, msg: `answer_format: ${fault.msg}`, type: "answer_format" }];
}

/** An agent has at most one environment of each kind. */
function findEnvironmentFaults(agent: AgentDefinition, loc: (string | number)[]): Fault[] {
  const kinds = agent.environments.map((entry) => (typeof entry === "string" ? null : entry.kind));
  return kinds.flatMap((kind, index) => {
    if (kind === null || kinds.indexOf(kind) === index) return [];
    const msg = `a second environment of kind ${kind}; an agent has at most one of each kind`;
    return [{ loc: [...loc, "environments", index], msg, type: "environment_duplicate" }];
  });
}

/** Fields that are calculated with. Everything else is kept to the last digit. */
const NUMBER_FIELDS = [
  "max_steps",
  "max_time_s",
  "idle_timeout_s",
  "repeat_limit",
  "error_limit",
  "token_budget",
  "delete_after_min",
  "delete_screenshot_after_min",
  "tool_timeout_s",
  "approval_timeout_s",
] as const;

function findNumberFaults(sent: SessionRequestInput): Fault[] {
  return NUMBER_FIELDS.filter((field) => hasExactNumber(sent[field])).map((field) => {
    const msg = `${field} is ${sent[field]}; a number that a 64-bit float holds is right`;
    return { loc: ["body", field], msg, type: "number_exact" };
  });
}

/** Throws a 422 when there are faults. */
export function refuse(faults: Fault[]): void {
  const [first] = faults;
  if (first) throw new TandemError("invalid_request", first.msg, { faults });
}

/**
 * The model that is named, or the server's default.
 *
 * @throws {TandemError} `invalid_request` when there is none, or it cannot be used on this server
 */
export function chooseModel(named: string | null | undefined, loc: string[], models: ModelSettings): string {
  const model = named ?? models.defaultModel;
  if (model === undefined) {
    const msg =
      "the agent names no model and this server has no default: set agent.model, or TANDEM_MODEL on the server";
    throw invalidRequest(loc, msg, "model_missing");
  }
  const fault = findModelFault(model, models);
  if (fault) throw invalidRequest(loc, fault, "model_unavailable");
  return model;
}

function normalise(sent: SessionRequestInput): SessionRequest {
  const messages = sent.messages ?? null;
  const list = messages === null || Array.isArray(messages) ? messages : [messages];
  return {
    agent: typeof sent.agent === "string" ? sent.agent : toAgentDefinition(sent.agent),
    messages: list?.map(toUserMessage) ?? null,
    max_steps: sent.max_steps ?? null,
    max_time_s: sent.max_time_s ?? null,
    idle_timeout_s: sent.idle_timeout_s ?? null,
    delete_after_min: sent.delete_after_min === undefined ? DEFAULT_DELETE_AFTER_MIN : sent.delete_after_min,
    delete_screenshot_after_min:
      sent.delete_screenshot_after_min === undefined
        ? DEFAULT_DELETE_AFTER_MIN
        : sent.delete_screenshot_after_min,
    queue: sent.queue ?? true,
    repeat_limit: sent.repeat_limit === undefined ? DEFAULT_REPEAT_LIMIT : sent.repeat_limit,
    error_limit: sent.error_limit === undefined ? DEFAULT_ERROR_LIMIT : sent.error_limit,
    token_budget: sent.token_budget ?? null,
    group_id: sent.group_id ?? null,
    parent_session_id: sent.parent_session_id ?? null,
    ...pickSettings(sent),
    overrides: sent.overrides ?? {},
  };
}
