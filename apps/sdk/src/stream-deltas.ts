// Text of the running model request, as a stream tells it. Pure.

/** A piece of the text that the model is writing. All of it comes before the events of its step, which have it too. */
export interface StreamDelta {
  type: "delta";
  /** The step that the text belongs to. */
  step: number;
  /** How many UTF-16 units of this request's text came before; 0 begins anew, since a failed request is made again. */
  offset: number;
  text: string;
}

/**
 * Keeps a reader from getting text twice: after a reconnect the server tells all of it again. What a reader gets goes on
 * where the text before it ended, or begins anew.
 */
export class DeltaFilter {
  #step = -1;
  /** What the reader has of the step's text. */
  #text = "";
  /** What was told again since a reconnect, all of which the reader has; null when there was none. */
  #again: string | null = null;

  /** To be called when a new connection begins. */
  reconnect(): void {
    this.#again = "";
  }

  /** What is new in a delta; null when nothing is. */
  take(delta: StreamDelta): StreamDelta | null {
    if (this.#again === null || delta.step !== this.#step) {
      this.#again = null;
      const goesOn = delta.step === this.#step && delta.offset === this.#text.length;
      this.#text = (goesOn ? this.#text : "") + delta.text;
      this.#step = delta.step;
      return delta;
    }
    this.#again = this.#again.slice(0, delta.offset) + delta.text;
    // As much of a request that is made again may say the same: the step's end tells whether it said less.
    if (this.#text.startsWith(this.#again)) return null;
    return this.#become(this.#again);
  }

  /** What is left to tell of a step whose reply has come; null when nothing is. */
  complete(said: string): StreamDelta | null {
    const rest = this.#text === said || this.#step < 0 ? null : this.#become(said);
    this.#step = -1;
    this.#text = "";
    return rest;
  }

  #become(text: string): StreamDelta {
    const offset = text.startsWith(this.#text) ? this.#text.length : 0;
    this.#again = null;
    this.#text = text;
    return { type: "delta", step: this.#step, offset, text: text.slice(offset) };
  }
}
