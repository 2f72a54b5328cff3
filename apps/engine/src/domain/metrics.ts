// Counting what a session used, from what the provider reports.

/** Tokens that one model used in a session. `output_tokens` includes the reasoning tokens. */
export interface ModelUsage {
  name: string;
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
}

/** The reference's metrics. Costs are left out: this server knows no prices. */
export interface Metrics {
  steps: number;
  cost_per_model: ModelUsage[];
}

/** The usage with one more model call counted in, summed by model. */
export function addUsage(total: readonly ModelUsage[], used: ModelUsage): ModelUsage[] {
  const known = total.find((entry) => entry.name === used.name);
  if (!known) return [...total, used];
  const sum = {
    name: used.name,
    input_tokens: known.input_tokens + used.input_tokens,
    output_tokens: known.output_tokens + used.output_tokens,
    reasoning_tokens: known.reasoning_tokens + used.reasoning_tokens,
  };
  return total.map((entry) => (entry === known ? sum : entry));
}

/** The metrics of a session. */
export function toMetrics(steps: number, usage: ModelUsage[]): Metrics {
  return { steps, cost_per_model: usage };
}
