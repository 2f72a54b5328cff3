// A report on tool definitions: what would be refused, and what a model's provider is told of the others.
import { type Fault, TandemError } from "./errors.ts";
import { type JsonObject, toCanonicalJson } from "./json.ts";
import { lowerForProvider } from "./lower-for-provider.ts";
import { type Provider, parseModelId } from "./models.ts";
import { findProviderFaults } from "./provider-faults.ts";
import { chooseStrictTools } from "./strict-tools.ts";
import { findToolFaults, type ToolDefinition } from "./tools.ts";

/** What would become of one tool. */
export interface ToolCheck {
  /** Null when it has none. */
  name: string | null;
  accepted: boolean;
  /** Why it is not accepted, and the path of the fault in the definition. */
  reason?: string;
  path?: (string | number)[];
  /** The schema that the provider gets, when it is not the caller's, and what differs, in words. */
  lowered?: JsonObject;
  changes?: string[];
  /** For a tool that asks to be strict: whether it is, and else why not. */
  strict?: boolean;
  strictReason?: string;
}

/**
 * Checks tools as a session with this model would, without refusing anything.
 *
 * @param model the id of a known model
 * @param findFormFault what is wrong with the form of a definition, with the path in it; null: it is one
 * @throws {TandemError} `invalid_request` when the list is too long to be checked
 */
export function checkTools(
  tools: readonly JsonObject[],
  model: string,
  findFormFault: (tool: JsonObject) => Fault | null,
): ToolCheck[] {
  const found = new Map<number, Fault>();
  for (const [index, tool] of tools.entries()) {
    const fault = findFormFault(tool);
    if (fault) found.set(index, fault);
  }
  const wellFormed = toDefinitions(tools, found);
  addFaults(found, wellFormed, findToolFaults(wellFormed.definitions, []));
  const good = toDefinitions(tools, found);
  // Those of a provider are about an agent: the path of each begins with `tools`.
  const faults = findProviderFaults({ tools: good.definitions }, model, []);
  const ofProvider = faults.map((fault) => ({ ...fault, loc: fault.loc.slice(1) }));
  for (const fault of ofProvider) {
    if (fault.loc.length > 0) addFaults(found, good, [fault]);
    else for (const index of good.indexes) found.set(index, fault);
  }
  const strict = chooseStrictTools(toDefinitions(tools, found).definitions, providerOf(model));
  return tools.map((tool, index) => toCheck(tool, { fault: found.get(index), model, strict }));
}

/** Some of the tools, and where they stand in the list. */
interface Definitions {
  indexes: number[];
  definitions: ToolDefinition[];
}

function toDefinitions(tools: readonly JsonObject[], found: ReadonlyMap<number, Fault>): Definitions {
  const indexes = [...tools.keys()].filter((index) => !found.has(index));
  return { indexes, definitions: indexes.map((index) => tools[index] as unknown as ToolDefinition) };
}

/** Adds faults whose paths begin with an index among the definitions. */
function addFaults(found: Map<number, Fault>, { indexes }: Definitions, faults: readonly Fault[]): void {
  for (const fault of faults) {
    const [at, ...path] = fault.loc;
    const index = indexes[Number(at)];
    if (index === undefined) {
      throw new TandemError("invalid_request", fault.msg, { faults: [{ ...fault, loc: ["body", "tools"] }] });
    }
    if (!found.has(index)) found.set(index, { ...fault, loc: path });
  }
}

function providerOf(model: string): Provider {
  return parseModelId(model)?.provider ?? "demo";
}

function toCheck(
  tool: JsonObject,
  { fault, model, strict }: { fault: Fault | undefined; model: string; strict: Map<string, string | null> },
): ToolCheck {
  const name = typeof tool.name === "string" ? tool.name : null;
  if (fault) return { name, accepted: false, reason: fault.msg, path: fault.loc };
  const { input_schema, name: known } = tool as unknown as ToolDefinition;
  const { schema, changes } = lowerForProvider(input_schema ?? {}, providerOf(model));
  const isSame = toCanonicalJson(schema) === toCanonicalJson(input_schema ?? {});
  const why = strict.get(known);
  return {
    name,
    accepted: true,
    ...(isSame ? {} : { lowered: schema, changes }),
    ...(why === undefined ? {} : { strict: why === null }),
    ...(typeof why === "string" ? { strictReason: why } : {}),
  };
}
