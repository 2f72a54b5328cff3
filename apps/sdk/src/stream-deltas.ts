// The text of a session's steps, as its streams and its events tell it. Pure.
import type { SessionEvent } from "./generated/types.gen.ts";

/** A piece of what the model says in a step. All of it comes before the events of the step, which have it too. */
export interface StreamDelta {
  type: "delta";
  /** The step that the text belongs to, from 1. */
  step: number;
  /** How many UTF-16 units of the step's text came before; 0 begins anew, since a failed request is made again. */
  offset: number;
  text: string;
}

/**
 * Makes of all that is told what a reader needs: each piece goes on where the text before it ended, or begins anew. A
 * server tells a text from its beginning again over a new connection, and when it asks its model again.
 */
export class StepTexts {
  /** 0 where none is told of. */
  #step = 0;
  /** What the reader has of the step's text. */
  #text = "";
  /** What was told since it was last begun with: the reader's text, or the beginning of it. */
  #told = "";

  /** What is new in a delta; null when nothing is. */
  take({ step, offset, text }: StreamDelta): StreamDelta | null {
    if (step !== this.#step) this.#begin(step);
    this.#told = this.#told.slice(0, offset) + text;
    // A request that is made again may say as much of the same: the step's end tells whether it said less.
    return this.#text.startsWith(this.#told) ? null : this.#become(this.#told);
  }

  /**
   * What was not told of the text of a step that this event ends; null when nothing is, or it is another event.
   *
   * @param next the event behind it, if there is one yet: it has the number of a step that was not told of
   */
  complete(event: SessionEvent, next?: SessionEvent): StreamDelta | null {
    if (event.type !== "AgentEvent" || event.data.kind !== "policy_event") return null;
    const said = event.data.content ?? "";
    if (!this.#step && next?.type === "MetricsUpdateEvent") this.#begin(next.data.metrics.steps);
    const rest = this.#step && said !== this.#text ? this.#become(said) : null;
    this.#begin(0);
    return rest;
  }

  #begin(step: number): void {
    this.#step = step;
    this.#text = this.#told = "";
  }

  #become(text: string): StreamDelta {
    const offset = text.startsWith(this.#text) ? this.#text.length : 0;
    this.#text = this.#told = text;
    return { type: "delta", step: this.#step, offset, text: text.slice(offset) };
  }
}
