import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/processes.ts";
import { listRoutes, type OpenApiDocument, type Route, readOpenApi } from "./checked-wire.ts";
import { createAjv, type JsonSchema } from "./reference-schemas.ts";

const everyRoute = ["401", "422", "429", "503"];
/** Routes that every session token may use: on all others it is refused, or where it is not for a tool. */
const openToTokens = ["getSessionStatus", "getSessionChanges", "streamSession"];
/** The same of operations that need no key: whoever has a link may use them. */
const everyPublicRoute = ["404", "503"];

/** Statuses beyond those of every route, where they can happen. */
const furtherErrors: Record<string, string[]> = {
  createSession: ["404", "409", "413", "415"],
  listSessions: [],
  getSession: ["404"],
  cancelSession: ["404"],
  getSessionStatus: ["404"],
  getSessionChanges: ["404"],
  streamSession: ["404"],
  listSessionEvents: ["404"],
  sendMessage: ["404", "409", "413", "415"],
  pauseSession: ["404", "409"],
  resumeSession: ["404", "409"],
  forceAnswer: ["404", "409"],
  getSessionQuota: [],
  submitToolResults: ["404", "409", "413", "415"],
  submitApprovals: ["404", "409", "413", "415"],
  listSessionTools: ["404"],
  replaceSessionTools: ["404", "409", "413", "415"],
  reportToolProgress: ["404", "409", "413", "415"],
  listToolCalls: ["404"],
  claimToolCall: ["404", "409", "413", "415"],
  createSessionToken: ["404", "409", "413", "415"],
  shareSession: ["404", "409"],
  unshareSession: ["404"],
  submitSessionFeedback: ["404", "409", "413", "415"],
  listSessionFeedback: ["404"],
  submitEventFeedback: ["404", "409", "413", "415"],
  createAgent: ["409", "413", "415"],
  listAgents: [],
  getAgent: ["404"],
  replaceAgent: ["404", "409", "413", "415"],
  updateAgent: ["404", "409", "413", "415"],
  deleteAgent: ["404", "409"],
  checkTools: ["413", "415"],
  listPendingToolCalls: [],
  createKey: ["413", "415"],
  listKeys: [],
  revokeKey: ["404", "409"],
};

const furtherPublicErrors: Record<string, string[]> = {
  getSharedSession: ["422"],
  getSharedSessionStatus: [],
  listSharedSessionEvents: ["422"],
};

describe("what is generated", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tandem-generate-"));
    const args = ["--import", "tsx", "--conditions=tandem-source", "scripts/generate.ts", folder];
    await promisify(execFile)(process.execPath, args, { cwd: repositoryRoot });
  }, 60_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("regenerates to the document that is committed", async () => {
    const committed = await readFile(join(repositoryRoot, "openapi/openapi.json"), "utf8");
    expect(await readFile(join(folder, "openapi/openapi.json"), "utf8")).toBe(committed);
  });

  it("regenerates to the client that is committed, file by file", async () => {
    const path = "apps/sdk/src/generated";
    const files = await listFiles(join(repositoryRoot, path));
    expect(await listFiles(join(folder, path))).toEqual(files);
    expect(files).toContain("sdk.gen.ts");
    for (const file of files) {
      const committed = await readFile(join(repositoryRoot, path, file), "utf8");
      expect({ file, text: await readFile(join(folder, path, file), "utf8") }).toEqual({
        file,
        text: committed,
      });
    }
  });
});

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

describe("the OpenAPI document", () => {
  let document: OpenApiDocument;
  let routes: Route[];
  let apiRoutes: Route[];

  beforeAll(async () => {
    document = await readOpenApi();
    routes = listRoutes(document);
    apiRoutes = routes.filter(({ path }) => path.startsWith("/api/v2/"));
  });

  it("is of version 3.1 and says what it is", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(Object.keys(document.paths).filter((path) => !path.startsWith("/"))).toEqual([]);
  });

  it("has no reference that leads nowhere", () => {
    const dangling = collectRefs(document).filter((ref) => resolve(document, ref) === undefined);
    expect(dangling).toEqual([]);
    expect(collectRefs(document).length).toBeGreaterThan(50);
  });

  it("has no schema that nothing refers to", () => {
    const used = new Set(collectRefs(document));
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !used.has(`#/components/schemas/${name}`))).toEqual([]);
  });

  it("has only valid schemas, with keywords of JSON Schema and OpenAPI alone", () => {
    const strict = createAjv({ strictSchema: true, strictTypes: false });
    // Keywords of OpenAPI 3.1's own vocabulary, which say nothing about a value, and the frame of its schemas.
    const known = ["example", "externalDocs", "xml", "discriminator", "components"];
    for (const keyword of known) strict.addKeyword(keyword);
    strict.addSchema({ $id: "ours:", components: document.components });
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => strict.compile({ $ref: `ours:#/components/schemas/${name}` }), name).not.toThrow();
    }
    for (const { path, operation } of routes) {
      for (const { name, schema } of operation.parameters ?? []) {
        expect(() => strict.compile(schema), `${name} of ${path}`).not.toThrow();
      }
    }
  });

  it("names every operation once", () => {
    const ids = routes.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => !/^[a-z][A-Za-z]+$/.test(id) || ids.indexOf(id) !== index)).toEqual([]);
  });

  it("puts every operation under a tag that it describes", () => {
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of routes) {
      expect(operation.tags).toHaveLength(1);
      expect(tags).toContain(operation.tags?.[0]);
    }
  });

  it("declares exactly the parameters of each path, all required, and none twice", () => {
    for (const { path, operation } of routes) {
      const parameters = operation.parameters ?? [];
      const inPath = parameters.filter((parameter) => parameter.in === "path");
      const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      expect(inPath.map(({ name, required }) => ({ name, required }))).toEqual(
        names.map((name) => ({ name, required: true })),
      );
      const keys = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it("describes every response, and each has JSON or nothing as its body, but for pages and streams", () => {
    const others: Record<string, string> = {
      "getSharedSession 200": "application/json,text/html",
      "streamSession 200": "text/event-stream",
    };
    for (const { operation } of routes) {
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description).toMatch(/\.$/);
        const other = others[`${operation.operationId} ${status}`];
        const allowed = other === undefined ? ["", "application/json"] : [other];
        expect(allowed).toContain(Object.keys(response.content ?? {}).join());
      }
    }
  });

  it("asks for a bearer key on every route of the API but those of public links, and on no other", () => {
    expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: "http", scheme: "bearer" } });
    const open = routes.filter(({ operation }) => (operation.security ?? document.security).length === 0);
    expect(open.map(({ path }) => path).sort()).toEqual([
      "/api/v2/shared/{token}",
      "/api/v2/shared/{token}/events",
      "/api/v2/shared/{token}/status",
      "/healthz",
      "/readyz",
    ]);
    for (const { operation } of apiRoutes) {
      if (operation.operationId in furtherPublicErrors) continue;
      expect(operation.security ?? document.security).toEqual([{ apiKey: [] }]);
    }
  });

  it("documents the errors that can happen on each route of the API, and no others", () => {
    const errors = apiRoutes.map(({ operation }) => [
      operation.operationId,
      Object.keys(operation.responses).filter((status) => status >= "400"),
    ]);
    const wanted = [
      ...Object.entries(furtherErrors).map(([id, further]) => [
        id,
        [...everyRoute, ...(openToTokens.includes(id) ? [] : ["403"]), ...further].sort(),
      ]),
      ...Object.entries(furtherPublicErrors).map(([id, further]) => [
        id,
        [...everyPublicRoute, ...further].sort(),
      ]),
    ];
    expect(Object.fromEntries(errors)).toEqual(Object.fromEntries(wanted));
  });

  it("shows an example that fits with every body that can be sent", () => {
    const ajv = createAjv();
    ajv.addSchema({ $id: "ours:", components: document.components });
    for (const { operation } of apiRoutes.filter((route) => route.operation.requestBody)) {
      const schema = operation.requestBody?.content["application/json"]?.schema ?? {};
      const named = [schema, ...((schema.anyOf ?? []) as JsonSchema[])].flatMap(({ $ref }) => $ref ?? []);
      const examples = named.flatMap((ref) => {
        const target = resolve(document, String(ref)) as JsonSchema;
        return ((target.examples ?? []) as unknown[]).map((example) => ({ ref, example }));
      });
      expect(examples, operation.operationId).not.toEqual([]);
      for (const { ref, example } of examples) {
        const validate = ajv.compile({ $ref: `ours:${ref}` });
        expect(validate(example), `${operation.operationId} ${ajv.errorsText(validate.errors)}`).toBe(true);
      }
    }
  });

  it("is not taken when a schema that is referred to is missing", () => {
    const broken = structuredClone(document);
    delete broken.components.schemas.Session;
    expect(collectRefs(broken).filter((ref) => resolve(broken, ref) === undefined)).toContain(
      "#/components/schemas/Session",
    );
  });
});

function collectRefs(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [value] : collectRefs(value),
  );
}

function resolve(document: OpenApiDocument, ref: string): unknown {
  if (!ref.startsWith("#/")) return undefined;
  const parts = ref.slice(2).split("/");
  return parts.reduce<unknown>(
    (node, part) => (node as Record<string, unknown> | undefined)?.[part.replaceAll("~1", "/")],
    document,
  );
}
