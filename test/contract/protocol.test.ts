import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ERROR_CODES } from "@tandem/engine/domain/errors";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/processes.ts";

describe("PROTOCOL.md", () => {
  it("says of every error code what to do", async () => {
    const text = await readFile(join(repositoryRoot, "openapi/PROTOCOL.md"), "utf8");
    const [, errors = ""] = text.split("\n## Errors\n");
    const [table = ""] = errors.split("\n## ");
    expect(Object.keys(ERROR_CODES).filter((code) => !table.includes(`\`${code}\``))).toEqual([]);
  });
});
