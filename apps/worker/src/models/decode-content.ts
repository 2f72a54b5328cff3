import { promisify } from "node:util";
import { brotliDecompress, constants, unzip } from "node:zlib";

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
  const names = [codings].flat().join(",").toLowerCase().split(",");
  const decoders = names.map((name) => DECODERS[name.trim()]);
  let decoded: Uint8Array = bytes;
  // The last one that was applied comes off first.
  for (const decode of decoders.reverse()) {
    if (!decode) return bytes;
    decoded = await decode(decoded);
  }
  return new Uint8Array(decoded);
}
