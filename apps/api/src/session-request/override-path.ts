// Paths of overrides: dotted fields, and `[field=value]` to pick a member of a list.

/** One step of a path: a field, then the members picked from its list. */
export interface PathStep {
  field: string;
  selectors: { field: string; value: string }[];
}

const STEP = /^([^.[\]=]+)((?:\[[^=[\]]+=[^\]]*\])*)(?:\.|$)/;
const SELECTOR = /\[([^=[\]]+)=([^\]]*)\]/g;

/**
 * Reads a path; null when it has not the form of one.
 *
 * @example parseOverridePath("agent.environments[kind=web].start_url")
 */
export function parseOverridePath(path: string): PathStep[] | null {
  const steps: PathStep[] = [];
  let rest = path;
  while (rest !== "") {
    const match = STEP.exec(rest);
    if (!match) return null;
    const [all, field = "", selectors = ""] = match;
    steps.push({
      field,
      selectors: [...selectors.matchAll(SELECTOR)].map(([, name = "", value = ""]) => ({
        field: name,
        value,
      })),
    });
    rest = rest.slice(all.length);
  }
  return steps.length > 0 && !path.endsWith(".") ? steps : null;
}
