// Images of tool results from files.
import { readFile } from "node:fs/promises";
import { toDataUri } from "../tool-images.ts";

/**
 * An image of a file, for the `images` of a tool's result.
 *
 * @throws {TypeError} when it is none of png, jpeg, gif and webp
 * @example
 * fn: async () => ({ text: "The sales of the year.", images: [await imageFromFile("sales.png")] })
 */
export async function imageFromFile(path: string | URL): Promise<string> {
  return toDataUri(await readFile(path));
}
