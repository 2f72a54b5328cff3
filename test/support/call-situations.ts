// Where two things meet at calls that need approvals, have deadlines, are claimed, or whose tools are replaced.
import {
  CLAIM_S,
  claimForRun,
  decide,
  post,
  progress,
  putTools,
  toWaitingDecisions,
  toWaitingEntries,
} from "./call-actions.ts";
import { claim, expire, finish, giveBack, steer } from "./session-actions.ts";
import type { Situation } from "./situations.ts";

const pause = steer("pause");
const resume = steer("resume");
const message = steer("message");
const cancel = steer("cancel");
const forceAnswer = steer("forceAnswer");
const ask = finish({ calls: [{ tool: "look", args: '{"n":1}' }] });
const postLast = post("the last result", (at) => toWaitingEntries(at, [0]));
const askGuarded = finish({
  calls: [
    { tool: "send", args: '{"n":1}' },
    { tool: "fetch", args: '{"n":2}' },
  ],
});
const askUrgent = finish({ calls: [{ tool: "must", args: '{"n":1}' }] });
const allow = decide("allow", (at) => toWaitingDecisions(at, [0]));
const deny = decide("deny", (at) => toWaitingDecisions(at, [0], { decision: "deny" }));
const edit = decide("allow with other arguments", (at) => toWaitingDecisions(at, [0], { args: '{"n":2}' }));
const remember = decide("deny for good", (at) =>
  toWaitingDecisions(at, [0], { decision: "deny", remember: true }),
);
const rememberOther = decide("allow another for good", (at) =>
  toWaitingDecisions(at, [1], { remember: true }),
);
const claimBy = (claimant: string, leaseS: number) => claimForRun({ call: 0, claimant, leaseS });
const askTwice = finish({
  calls: [
    { tool: "send", args: '{"n":1}' },
    { tool: "send", args: '{"n":2}' },
  ],
});
const put = putTools("second");
const report = progress(0);

/** What may meet at such calls. */
export const callSituations: Situation[] = [
  {
    name: "a call that waits for approval, beside one for a result",
    path: [claim, askGuarded],
    contenders: [allow, deny, postLast, forceAnswer, put, progress(1)],
  },
  {
    name: "a call that waits for approval",
    path: [claim, askGuarded, postLast],
    contenders: [allow, deny, edit, remember, cancel, pause],
  },
  {
    name: "two calls of a tool that wait for approval",
    path: [claim, askTwice],
    contenders: [allow, remember, rememberOther],
  },
  {
    name: "a remembered denial",
    path: [claim, askTwice, remember, claim],
    contenders: [askTwice, put, cancel],
  },
  {
    name: "a call that somebody runs",
    path: [claim, ask, claimBy("one", CLAIM_S)],
    contenders: [claimBy("one", CLAIM_S), claimBy("two", CLAIM_S), claimBy("one", 0), postLast],
  },
  {
    name: "a call that waited for approval too long",
    path: [claim, askGuarded, postLast, 400],
    contenders: [allow, deny, expire, cancel, message],
  },
  {
    name: "an approved call",
    path: [claim, askGuarded, postLast, allow],
    contenders: [allow, deny, edit, postLast, report],
  },
  {
    name: "a call that must not be late, and is",
    path: [claim, askUrgent, 500],
    contenders: [expire, postLast, pause, message, cancel, report],
  },
  {
    name: "a pause over a call that is fatally late, and a message that waits",
    path: [claim, askUrgent, message, pause, 500],
    contenders: [expire, resume, postLast],
  },
  { name: "other tools", path: [claim], contenders: [put, askGuarded, finish("answer"), cancel, giveBack()] },
];
