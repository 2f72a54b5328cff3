// `npm run generate`: writes openapi/openapi.json from the routes, then the SDK's generated part from it.
// With a folder as its argument it writes there instead, so that a test can compare.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import { createOpenApiDocument } from "../apps/api/src/openapi-document.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = process.argv[2] ?? root;

const note = "// This file is generated from openapi/openapi.json by `npm run generate`. Do not edit it.";
const unchecked =
  "// @ts-nocheck: a runtime that is copied as it is, and not written for exactOptionalPropertyTypes.";

const document = await createOpenApiDocument();
const file = join(target, "openapi/openapi.json");
await mkdir(join(target, "openapi"), { recursive: true });
await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);

await createClient({
  input: file,
  output: {
    path: join(target, "apps/sdk/src/generated"),
    importFileExtension: ".ts",
    // Copied files come without a `file`; those made from the document are type-checked like ours.
    header: (context) => (context.file ? note : [note, unchecked]),
    clean: true,
  },
  logs: { level: "error" },
  plugins: [
    { name: "@hey-api/client-fetch", throwOnError: true },
    { name: "@hey-api/typescript" },
    {
      name: "@hey-api/sdk",
      client: false,
      responseStyle: "data",
      operations: {
        strategy: "single",
        containerName: "TandemApi",
        methods: "instance",
        methodName: "{{name}}",
      },
    },
  ],
});

// Comments of the copied runtime link to a package registry, which this repository names nowhere.
const runtime = join(target, "apps/sdk/src/generated/client/types.gen.ts");
const text = await readFile(runtime, "utf8");
await writeFile(runtime, text.replace(/\{@link https:\/\/www\.npmjs\.com\/\S+ (`[^`]+`)\}/g, "$1"));
