import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { imageFromFile } from "@tandem/sdk/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const bytes = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-image-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("an image from a file", () => {
  it("is a data URI, whose type comes from the bytes and not from the name", async () => {
    const path = join(folder, "photo.png");
    await writeFile(path, bytes);
    const expected = `data:image/jpeg;base64,${bytes.toString("base64")}`;
    expect(await imageFromFile(path)).toBe(expected);
    expect(await imageFromFile(pathToFileURL(path))).toBe(expected);
  });

  it("is refused when the file is no image, or not there", async () => {
    const path = join(folder, "note.png");
    await writeFile(path, "hello");
    await expect(imageFromFile(path)).rejects.toThrow("none of png, jpeg, gif and webp");
    await expect(imageFromFile(join(folder, "none.png"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
