// Images of tool results: from what a tool has to what the server takes.

/** An image as a tool gives it: bytes, a `Blob` or `File`, a data URI, or an https URL that the model's provider fetches. */
export type ToolImage = string | URL | Uint8Array | ArrayBuffer | Blob;

/** How the bytes of each format begin; null stands for any byte. */
const signatures: [mediaType: string, bytes: (number | null)[]][] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
];

/** So many bytes become text at once: a call takes only so many arguments. */
const chunkBytes = 32_768;

/**
 * An image as the server takes it: a data URI, or an https URL.
 *
 * @throws {TypeError} when it is none of png, jpeg, gif and webp, or a path
 */
export async function toImageText(image: ToolImage): Promise<string> {
  if (typeof image === "string" || image instanceof URL) return checkImageText(String(image));
  if (image instanceof Blob) return toDataUri(new Uint8Array(await image.arrayBuffer()));
  if (ArrayBuffer.isView(image)) {
    return toDataUri(new Uint8Array(image.buffer, image.byteOffset, image.byteLength));
  }
  if (image instanceof ArrayBuffer) return toDataUri(new Uint8Array(image));
  throw new TypeError("an image is bytes, a Blob, a data URI, or an https URL");
}

/**
 * Bytes as a data URI. Their first ones tell the format.
 *
 * @throws {TypeError} when they are none of png, jpeg, gif and webp
 */
export function toDataUri(bytes: Uint8Array): string {
  const found = signatures.find(([, start]) =>
    start.every((byte, at) => byte === null || bytes[at] === byte),
  );
  if (!found) throw new TypeError("the bytes are none of png, jpeg, gif and webp");
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  }
  return `data:${found[0]};base64,${btoa(binary)}`;
}

function checkImageText(text: string): string {
  if (/^(https:\/\/|data:image\/(png|jpeg|gif|webp);base64,)/i.test(text)) return text;
  const right = "https URL, nor a base64 data URI of a png, jpeg, gif or webp";
  const forFiles = 'for a file use imageFromFile(path) of "@tandem/sdk/node"';
  throw new TypeError(`${JSON.stringify(text.slice(0, 100))} is no ${right}; ${forFiles}`);
}
