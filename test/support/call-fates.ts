// What becomes of the calls of guarded plans, which is known before: who decides on each, how, and whether it runs. The
// fate stands in the key that a call looks up, so that callers, approvers and checks all find it there.

/**
 * `contested`: allowed and denied at the same moment. `undecided` and `lenient`: nobody decides, and time denies or allows
 * it. `forgotten`: nobody runs it, and its time passes. `reported`: its caller tells how far it is.
 */
export const FATES = [
  ...(["allowed", "denied", "reported", "contested", "plain"] as const),
  ...(["edited", "undecided", "forgotten", "lenient"] as const),
];

/** One of {@link FATES}. */
export type Fate = (typeof FATES)[number];

/** The fate of the call that looks up a key. */
export const fateOf = (key: string): Fate => FATES.find((fate) => fate === key.split(".")[3]) ?? "plain";

/** The key that an approver puts in the place of another. */
export const toEdited = (key: string): string => `${key}.other`;

/** Long enough for whatever dies and comes back, and short enough to pass in a test; in seconds. */
const LONG_S = 600;
const SHORT_S = 1;

/** What the tool of each fate has beside its name. */
const TERMS = {
  look_up: {},
  look_up_slowly: { timeout_s: LONG_S },
  look_up_briefly: { timeout_s: SHORT_S },
  look_up_guarded: { approval: "always", approval_timeout_s: LONG_S, timeout_s: LONG_S },
  look_up_strictly: { approval: "always", approval_timeout_s: SHORT_S },
  look_up_leniently: {
    ...{ approval: "always", approval_timeout_s: SHORT_S, on_approval_timeout: "allow" },
    timeout_s: LONG_S,
  },
};

const TOOL_OF: Record<Fate, keyof typeof TERMS> = {
  ...{ plain: "look_up", reported: "look_up_slowly", forgotten: "look_up_briefly" },
  ...{ allowed: "look_up_guarded", denied: "look_up_guarded", edited: "look_up_guarded" },
  ...{ contested: "look_up_guarded", undecided: "look_up_strictly", lenient: "look_up_leniently" },
};

/** The name of the tool that looks up a key. */
export const toolOf = (key: string): string => TOOL_OF[fateOf(key)];

/** Whether a tool of this name is one of a plan's. */
export const isPlanned = (name: string): boolean => Object.hasOwn(TERMS, name);

/** The tools of guarded plans, each like the plain one. */
export const guardedTools = (plain: object): object[] =>
  Object.entries(TERMS).map(([name, terms]) => ({ ...plain, name, ...terms }));

/** Whether a call waits for an approval. */
export const needsApproval = (key: string): boolean => "approval" in TERMS[TOOL_OF[fateOf(key)]];

/** What approvers post for a call, all of it at the same moment; nothing where time decides. */
export function toDecisions(key: string): object[] {
  const decisions: Partial<Record<Fate, object[]>> = {
    allowed: [{ decision: "allow" }],
    edited: [{ decision: "allow", args: { key: toEdited(key) } }],
    denied: [{ decision: "deny", message: "No." }],
    contested: [{ decision: "allow" }, { decision: "deny", message: "No." }],
  };
  return decisions[fateOf(key)] ?? [];
}

/** Whether a call runs; `decision` is what a contested one came to. */
export function mustRun(key: string, decision: unknown): boolean {
  const fate = fateOf(key);
  if (fate === "contested") return decision === "allow";
  return fate !== "denied" && fate !== "undecided" && fate !== "forgotten";
}

/** What the model sees of a call that had this value, or that did not run. */
export function toSeen(key: string, value: string | null): string {
  const fate = fateOf(key);
  if (fate === "forgotten")
    return "Error: The call's time was over before a result came. Whether the tool ran is unknown.";
  if (value === null)
    return `Error: The call was denied, and not run: ${fate === "undecided" ? "Nobody decided in time." : "No."}`;
  if (fate !== "edited") return value;
  const args = JSON.stringify({ key: toEdited(key) });
  return `${value}\n\n[Before the call was approved, its arguments were changed to ${args}]`;
}
