// `npm run generate`: writes openapi/openapi.json from the routes, then the SDK's generated part from it.
// With a folder as its argument it writes there instead, so that a test can compare.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import { createOpenApiDocument } from "../apps/api/src/openapi-document.ts";
import { writeOperations } from "./write-operations.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = process.argv[2] ?? root;

const note = "// This file is generated from openapi/openapi.json by `npm run generate`. Do not edit it.";

const document = await createOpenApiDocument();
const file = join(target, "openapi/openapi.json");
await mkdir(join(target, "openapi"), { recursive: true });
await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);

const generated = join(target, "apps/sdk/src/generated");
await createClient({
  input: file,
  output: { path: generated, importFileExtension: ".ts", header: note, clean: true },
  logs: { level: "error" },
  plugins: [{ name: "@hey-api/typescript" }],
});
await rm(join(generated, "index.ts"));
await writeFile(join(generated, "sdk.gen.ts"), writeOperations(document as never, note));
