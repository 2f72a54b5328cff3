// Which of a request's tools are offered as strict ones.
import type { JsonObject } from "./json.ts";
import { lowerForProvider } from "./lower-for-provider.ts";
import type { Provider } from "./models.ts";
import { createStrictBudget } from "./strict-measure.ts";
import { findStrictFault } from "./strict-schema.ts";

/** What is looked at of a tool. */
interface MaybeStrict {
  name: string;
  input_schema?: JsonObject;
  strict?: boolean | null;
}

/**
 * For each tool that asks for it, whether a request to the provider can have it as a strict tool: null when it can, else
 * why not. The limits that strict tools have together go to the first ones.
 *
 * @param tools those of one request
 */
export function chooseStrictTools(
  tools: readonly MaybeStrict[],
  provider: Provider,
): Map<string, string | null> {
  const budget = provider === "openai" || provider === "anthropic" ? createStrictBudget(provider) : null;
  return new Map(
    tools
      .filter(({ strict }) => strict === true)
      .map(({ name, input_schema }) => {
        const { schema } = lowerForProvider(input_schema ?? {}, provider);
        return [name, findStrictFault(schema, provider) ?? budget?.add(schema) ?? null];
      }),
  );
}

/**
 * What a request says of a tool's strictness: true, false, or nothing.
 *
 * OpenAI's Responses take "nothing" for "make it strict if you can": every property would have to be given. So it is told
 * false. Others may refuse a field that they do not know.
 */
export function toStrictFlag(isChosen: boolean, provider: Provider): boolean | undefined {
  return isChosen || (provider === "openai" ? false : undefined);
}
