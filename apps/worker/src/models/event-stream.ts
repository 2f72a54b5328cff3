// Changing the data of server-sent events on their way. Made for replies of models, whose events hold JSON each.
import { EventSourceParserStream } from "eventsource-parser/stream";

/** The same events, each as what `change` makes of its data. Names, ids and comments are left out: nobody reads them. */
export function mapEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  change: (data: string) => string[],
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream({
        transform({ data }, controller) {
          for (const changed of change(data)) controller.enqueue(toFrame(changed));
        },
      }),
    )
    .pipeThrough(new TextEncoderStream()) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The same response with another body. */
export function withBody(
  { status, statusText, headers: sent }: Response,
  body: string | ReadableStream,
): Response {
  // They are of the bytes that came; those that go on are others.
  const headers = new Headers(sent);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response(body, { status, statusText, headers });
}

function toFrame(data: string): string {
  const lines = data.split("\n").map((line) => `data: ${line}\n`);
  return `${lines.join("")}\n`;
}
