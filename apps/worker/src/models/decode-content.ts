import { pipeline, type Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import { brotliDecompress, constants, createBrotliDecompress, createUnzip, unzip } from "node:zlib";

const decodeBrotli = promisify(brotliDecompress);
const decodeZlib = promisify(unzip);

/** As browsers do: a stream that ends without its last bytes is taken for what it holds. */
const ZLIB_OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH };

const DECODERS: Record<string, (bytes: Uint8Array) => Promise<Uint8Array>> = {
  br: (bytes) => decodeBrotli(bytes),
  gzip: (bytes) => decodeZlib(bytes, ZLIB_OPTIONS),
  "x-gzip": (bytes) => decodeZlib(bytes, ZLIB_OPTIONS),
  deflate: (bytes) => decodeZlib(bytes, ZLIB_OPTIONS),
};

/**
 * The content of a reply whose `content-encoding` names these codings. With one that is unknown, it stays as it came.
 *
 * @throws when the content is not of that coding
 */
export async function decodeContent(
  bytes: Uint8Array<ArrayBuffer>,
  codings: string | string[] | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (codings === undefined || bytes.length === 0) return bytes;
  const decoders = toNames(codings).map((name) => DECODERS[name]);
  let decoded: Uint8Array = bytes;
  // The last one that was applied comes off first.
  for (const decode of decoders.reverse()) {
    if (!decode) return bytes;
    decoded = await decode(decoded);
  }
  return new Uint8Array(decoded);
}

const unzipStream = () => createUnzip(ZLIB_OPTIONS);

const STREAM_DECODERS: Record<string, () => Transform> = {
  br: () => createBrotliDecompress(),
  gzip: unzipStream,
  "x-gzip": unzipStream,
  deflate: unzipStream,
};

/** The same for content that is read as it comes. A fault of it, or of the connection, is an error of what is returned. */
export function decodeStream(content: Readable, codings: string | string[] | undefined): Readable {
  if (codings === undefined) return content;
  const decoders = toNames(codings).map((name) => STREAM_DECODERS[name]);
  if (decoders.some((decoder) => decoder === undefined)) return content;
  return decoders.reverse().reduce<Readable>((stream, decoder) => {
    // Whoever reads the result hears of the error there.
    return decoder ? pipeline(stream, decoder(), () => undefined) : stream;
  }, content);
}

function toNames(codings: string | string[]): string[] {
  return [codings]
    .flat()
    .join(",")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
}
