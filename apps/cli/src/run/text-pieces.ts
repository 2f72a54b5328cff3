// The model's text in pieces, made fit to be shown. Pure.
import type { StreamItem } from "@tandem/sdk";
import { toHarmless } from "../terminal/harmless.ts";

type Delta = Extract<StreamItem, { type: "delta" }>;

/** Puts pieces together. */
export interface TextPieces {
  /** What is to be shown of a piece; `isAnew` when it does not go on from the piece before. */
  take(delta: Delta): { text: string; isAnew: boolean };
  /** The text of the last step; null when pieces of it are missing, or there is none. */
  whole(): string | null;
}

export function createTextPieces(): TextPieces {
  let step = -1;
  let text = "";
  let isWhole = false;
  /** The end of a piece that may be half of a character, or of a line's end. */
  let rest = "";
  return {
    take(delta) {
      const goesOn = delta.step === step && delta.offset === text.length;
      if (!goesOn) {
        isWhole = delta.offset === 0;
        text = "";
        rest = "";
      }
      step = delta.step;
      text += delta.text;
      const whole = rest + delta.text;
      rest = /[\ud800-\udbff\r]$/.exec(whole)?.[0] ?? "";
      return { text: toHarmless(whole.slice(0, whole.length - rest.length)), isAnew: !goesOn };
    },
    whole: () => (isWhole && text !== "" ? text : null),
  };
}
