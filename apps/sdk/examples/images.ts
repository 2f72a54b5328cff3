// A tool that shows the model a picture. `details` are for you alone: they are in the event, and never reach the model.
//   TANDEM_API_KEY=… npx tsx apps/sdk/examples/images.ts
import { deflateSync } from "node:zlib";
import { TandemClient, tool } from "@tandem/sdk";

const drawSquare = tool({
  name: "draw_square",
  description: "Draw a square of a colour.",
  inputSchema: {
    type: "object",
    properties: { colour: { type: "string", enum: ["red", "green", "blue"], description: "Its colour." } },
    required: ["colour"],
  },
  fn: ({ colour }) => {
    const image = encodePng(64, { red: [220, 40, 40], green: [40, 160, 70], blue: [40, 80, 220] }[colour]);
    return { text: `A ${colour} square.`, images: [image], details: { bytes: image.byteLength } };
  },
});

const client = new TandemClient();
const result = await client.runSession({
  agent: "tandem/assistant",
  messages: "Draw a blue square.",
  tools: [drawSquare],
});
console.log(result.status, result.answer);

/** A square PNG of one colour. A real tool takes a screenshot, or reads a file: `imageFromFile` of `@tandem/sdk/node`. */
function encodePng(size: number, colour: readonly number[]): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.from([0, ...Array.from({ length: size }, () => colour).flat()]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: size }, () => row)));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
