// Changing the data of server-sent events on their way. Made for replies of models, whose events hold JSON each.
import { EventSourceParserStream } from "eventsource-parser/stream";

/** The same events, each with its data changed. Comments and what browsers reconnect by are left out. */
export function mapEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  change: (data: string) => string,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream({
        transform({ event, data }, controller) {
          const name = event === undefined ? "" : `event: ${event}\n`;
          const lines = change(data).split("\n");
          controller.enqueue(`${name}${lines.map((line) => `data: ${line}\n`).join("")}\n`);
        },
      }),
    )
    .pipeThrough(new TextEncoderStream()) as ReadableStream<Uint8Array<ArrayBuffer>>;
}
