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

/** Keeps a reader from getting text twice: after a reconnect the server tells all of it again. */
export class DeltaFilter {
  #step = -1;
  /** Where the known text begins, and what it is. Text in between may be missing: slow readers are not waited for. */
  #start = 0;
  #text = "";
  #isReconnected = false;

  /** To be called when a new connection begins. */
  reconnect(): void {
    this.#isReconnected = true;
  }

  /** What is new in a delta; null when nothing is. */
  take(delta: StreamDelta): StreamDelta | null {
    const end = this.#start + this.#text.length;
    const isKnown =
      this.#isReconnected && delta.step === this.#step && delta.offset < end && this.#agrees(delta);
    if (!isKnown) {
      this.#isReconnected = false;
      const isNext = delta.step === this.#step && delta.offset === end;
      if (!isNext) this.#start = delta.offset;
      this.#text = (isNext ? this.#text : "") + delta.text;
      this.#step = delta.step;
      return delta;
    }
    const text = delta.text.slice(end - delta.offset);
    if (text === "") return null;
    this.#isReconnected = false;
    this.#text += text;
    return { ...delta, offset: end, text };
  }

  /** Whether the text is the known one where both have some: a retried request may write another. */
  #agrees({ offset, text }: StreamDelta): boolean {
    const from = Math.max(offset, this.#start);
    const length = Math.min(offset + text.length, this.#start + this.#text.length) - from;
    const known = this.#text.slice(from - this.#start, from - this.#start + length);
    return length <= 0 || text.slice(from - offset, from - offset + length) === known;
  }
}
