// Where two things meet that happen to a session at the same moment: how it came there, and what may meet.
import { post, toWaitingEntries } from "./call-actions.ts";
import type { ModelSession } from "./modelled-session.ts";
import {
  type Action,
  claim,
  expire,
  fail,
  finish,
  giveBack,
  IDLE_S,
  MAX_TIME_S,
  RETRY_S,
  renew,
  steer,
} from "./session-actions.ts";

/** How a session came to where the two meet. A number is a jump of the clocks. */
export interface Situation {
  name: string;
  path: (Action | number)[];
  options?: Partial<ModelSession["options"]>;
  contenders: Action[];
}

const pause = steer("pause");
const resume = steer("resume");
const message = steer("message");
const cancel = steer("cancel");
const forceAnswer = steer("forceAnswer");
const steering = [pause, resume, message, cancel, forceAnswer];
const ask = finish({
  calls: [
    { tool: "look", args: '{"n":1}' },
    { tool: "find", args: '{"n":2}' },
  ],
});
const answer = finish("answer");
const works = [ask, answer, finish("nonsense"), fail(null), fail(RETRY_S), giveBack()];
const postLast = post("the last result", (at) => toWaitingEntries(at, [0]));
const postOther = post("another last result", (at) =>
  toWaitingEntries(at, [0]).map((entry) => ({ ...entry, value: "rain" })),
);
const postAll = post("all results", (at) => toWaitingEntries(at, [1, 0]));

const open = { idle: IDLE_S, maxTime: MAX_TIME_S };
const timed = [pause, message, cancel, forceAnswer, expire];
const waits = [...timed, postLast, postOther];
/** Of sessions whose calls, where there are any, wait for results alone. */
export const situations: Situation[] = [
  { name: "a pending session", path: [], contenders: [...steering, claim] },
  { name: "a running session", path: [claim], contenders: [...steering, ...works] },
  { name: "an unseen message", path: [claim, message], contenders: [pause, cancel, ask, answer, fail(null)] },
  { name: "a pause to come", path: [claim, pause], contenders: [...steering, ask, answer, fail(null)] },
  {
    name: "a lapsed lease and a time that is over",
    path: [claim, 2_100],
    options: open,
    contenders: [...timed, ask, answer, fail(null), renew(), claim],
  },
  {
    name: "a last step whose time is over",
    path: [claim, 2_100, expire, claim, 100],
    options: open,
    contenders: [...timed, answer, fail(null)],
  },
  { name: "two pending calls", path: [claim, ask], contenders: [cancel, pause, postLast, postAll] },
  { name: "one pending call", path: [claim, ask, postLast], contenders: waits },
  { name: "one pending call in vain", path: [claim, ask, postLast, 2_100], options: open, contenders: waits },
  { name: "an idle session", path: [claim, answer], options: open, contenders: [message, pause, expire] },
  {
    name: "an idle session whose time is over",
    path: [claim, answer, 1_100],
    options: open,
    contenders: [...timed, resume],
  },
  {
    name: "a pause over a call",
    path: [claim, ask, postLast, pause],
    contenders: [...steering, postLast, postOther, claim],
  },
  {
    name: "a pause over an idle session",
    path: [claim, answer, pause, 1_100],
    options: open,
    contenders: [message, resume, cancel, expire],
  },
  {
    name: "a completed session",
    path: [claim, answer],
    contenders: [message, cancel, pause, postLast, claim],
  },
  {
    name: "a step that nobody could finish, with a message and a pause to come",
    path: [...Array.from({ length: 19 }, () => [claim, 600]).flat(), claim, message, pause, 600, claim],
    contenders: [resume],
  },
];
