// The text of a session's steps, for one client: of the running request while it comes, and whatever was not told of a
// step's text when the step has ended.
import { toCut } from "@tandem/engine/wake/stream-notes";
import type { EventStream } from "./event-stream.ts";
import { toNamedFrame } from "./frames.ts";
import type { RunningText, RunningTexts } from "./running-texts.ts";

/** Most UTF-16 units of text in one frame. */
const MAX_UNITS = 64 * 1024;

/** Sends the text of steps. */
export interface TextSender {
  /** Sends nothing of running requests until it is known which steps were sent. */
  hold(): void;
  /** All events of so many steps were sent: what is told of the next one's text is sent from now on. */
  knowSteps(steps: number): void;
  /**
   * Sends what was not sent of the text of a step that has ended, of which `said` is all. A request that failed may
   * have told another text: then it begins anew.
   */
  complete(step: number, said: string): Promise<void>;
  stop(): void;
}

/** What was sent last. */
interface Sent {
  /** Null when nothing was sent of a step whose events were not. */
  of: RunningText | null;
  units: number;
}

const NOTHING: Sent = { of: null, units: 0 };

/** Sends the running request's text whenever there is more of it and room for it. */
export function sendText(stream: EventStream, texts: RunningTexts, sessionId: string): TextSender {
  let knownSteps: number | null = null;
  let sent = NOTHING;
  let isWaiting = false;

  /** Sends as much of a step's text as one frame holds, and gives where that ends. */
  const write = (step: number, whole: string, offset: number): number => {
    const end = toCut(whole, offset + MAX_UNITS);
    const delta = { type: "delta", step, offset, text: whole.slice(offset, end) };
    stream.write(toNamedFrame("delta", JSON.stringify(delta)));
    return end;
  };
  const send = () => {
    const { running } = follower;
    if (isWaiting || knownSteps === null || running?.step !== knownSteps + 1) return;
    const { step, fence, text } = running;
    if (sent.of?.fence !== fence) sent = { of: running, units: 0 };
    while (sent.units < text.length && stream.hasRoom && !stream.isOver) {
      sent.units = write(step, text, sent.units);
    }
    if (sent.units < text.length && !stream.isOver) void sendWithRoom();
  };
  const sendWithRoom = async () => {
    isWaiting = true;
    await stream.room();
    isWaiting = false;
    if (!stream.isOver) send();
  };
  const follower = texts.follow(sessionId, send);
  return {
    hold() {
      knownSteps = null;
    },
    knowSteps(steps) {
      knownSteps = steps;
      follower.settle(steps);
      send();
    },
    async complete(step, said) {
      const { of, units } = sent;
      sent = NOTHING;
      const isBegun = of?.step === step && units > 0;
      const goesOn = isBegun && said.startsWith(of.text.slice(0, units));
      // No text at all takes the place of one that is void.
      if (isBegun && said === "") write(step, said, 0);
      for (let end = goesOn ? units : 0; end < said.length && !stream.isOver; ) {
        await stream.room();
        end = write(step, said, end);
      }
    },
    stop: () => follower.stop(),
  };
}
