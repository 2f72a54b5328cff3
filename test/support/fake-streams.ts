// The event streams of a fake Tandem server.
import type { ServerResponse } from "node:http";
import type { FakeSession } from "./fake-session.ts";

interface OpenStream {
  response: ServerResponse;
  cursor: number;
}

export class FakeStreams {
  isOn = false;
  /** How a line ends: `\n`, `\r` or `\r\n`. */
  lineEnd = "\n";
  readonly #session: FakeSession;
  readonly #open = new Set<OpenStream>();

  constructor(session: FakeSession) {
    this.#session = session;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Answers a request for the stream. */
  open(
    request: { query: URLSearchParams; headers: NodeJS.Dict<string | string[]> },
    response: ServerResponse,
  ): void {
    const last = request.headers["last-event-id"];
    const cursor = last === undefined ? Number(request.query.get("from_index") ?? 0) : Number(last) + 1;
    if (this.#session.isTerminal && cursor >= this.#session.events.length) {
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const stream = { response, cursor };
    const tell = () => this.#tell(stream);
    this.#open.add(stream);
    this.#session.pollers.add(tell);
    response.once("close", () => {
      this.#open.delete(stream);
      this.#session.pollers.delete(tell);
    });
    tell();
  }

  /** Text of the model, to every stream. */
  delta(step: number, offset: number, text: string): void {
    this.write(this.#frame({ event: "delta", data: { type: "delta", step, offset, text } }));
  }

  /** Bytes as they are, to every stream. */
  write(bytes: string | Uint8Array): void {
    for (const { response } of this.#open) response.write(bytes);
  }

  /** Ends every stream; `isBroken` breaks it off. */
  end({ isBroken = false } = {}): void {
    for (const { response } of this.#open) {
      if (isBroken) response.destroy();
      else response.end();
    }
  }

  #tell(stream: OpenStream): void {
    const { events, isTerminal } = this.#session;
    for (; stream.cursor < events.length; stream.cursor += 1) {
      stream.response.write(this.#frame({ id: stream.cursor, data: events[stream.cursor] }));
    }
    const { new_events: _, ...state } = this.#session.changes(stream.cursor, {
      withEvents: true,
      pageSize: 0,
    });
    stream.response.write(this.#frame({ event: "state", data: state }));
    if (isTerminal) stream.response.end();
  }

  #frame({ id, event, data }: { id?: number; event?: string; data: unknown }): string {
    const lines = [
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(event === undefined ? [] : [`event: ${event}`]),
      `data: ${JSON.stringify(data)}`,
      "",
      "",
    ];
    return lines.join(this.lineEnd);
  }
}
