import { rm } from "node:fs/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startProcess, type TestProcess } from "../support/processes.ts";
import { builtPrograms } from "../support/programs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { createWire } from "../support/wire.ts";

/** Runs the command to its end: as images do, unless it is another entry. */
async function keys(args: string[], env: Record<string, string>, entry: string = builtPrograms.keys) {
  const child = startProcess({ entry, args, env });
  const { code } = await child.exited;
  return { code, lines: child.stdout, faults: child.stderr.join("\n") };
}

describe("npm run keys beside a running stack", () => {
  let dataDir: string;
  let stack: TestProcess;
  let url: string;

  beforeAll(async () => {
    dataDir = await makeTemporaryFolder("tandem-keys-");
    const env = { PORT: "0", TANDEM_DATA_DIR: dataDir, LOG_LEVEL: "warn" };
    stack = startProcess({ entry: builtPrograms.standalone, env });
    url = (await stack.waitForLine(/API +(http:\/\/\S+)\/api\/v2/))[1] as string;
  });
  afterAll(async () => {
    stack.kill("SIGTERM");
    await stack.exited;
    await rm(dataDir, { recursive: true, force: true });
  });

  it("makes a key that works at once, alone on the last line, and shows it in the list without its secret", async () => {
    const env = { TANDEM_DATA_DIR: dataDir };
    const made = await keys(
      ["create", "--org", "acme", "--name", "ci", "--user", "ann", "--expires", "30"],
      env,
    );
    expect(made.code).toBe(0);
    const key = made.lines.at(-1) as string;
    expect(key).toMatch(/^tdm_\S{43}$/);
    const reply = await createWire(url, key).get("/sessions");
    expect(reply.body).toMatchObject({ items: [], total: 0 });
    const { lines } = await keys(["list"], env);
    const line = lines.find((text) => text.includes("acme/ann")) as string;
    expect(line).toContain(key.slice(0, 8));
    expect(line).toMatch(/ci {2}expires 20\d\d-.* last used 20\d\d-/);
    expect(lines.join()).not.toContain(key);
  });

  it("makes admin keys with --admin, which manage keys over HTTP, and shows which they are", async () => {
    const env = { TANDEM_DATA_DIR: dataDir };
    const made = await keys(["create", "--org", "operators", "--name", "ops", "--admin"], env);
    expect(made.code).toBe(0);
    expect(made.lines.at(-2)).toMatch(/^Admin key \S+ of organization operators\./);
    const admin = createWire(url, made.lines.at(-1) as string);
    const { body } = await admin.post("/keys", { organization: "shop", name: "plain" });
    expect((await createWire(url, body.key).get("/keys")).status).toBe(403);
    const { lines } = await keys(["list"], env);
    expect(lines.find((line) => line.includes("operators/"))).toMatch(/ops {2}admin {2}expires never/);
    expect(lines.find((line) => line.includes("shop/"))).toMatch(/plain {2}expires never/);
    expect((await admin.send("DELETE", `/keys/${body.id}`)).status).toBe(204);
    expect((await createWire(url, body.key).get("/agents")).status).toBe(401);
    const revoked = (await keys(["list"], env)).lines.find((line) => line.includes("shop/"));
    expect(revoked).toMatch(/plain {2}revoked 20\d\d-/);
  });
});

describe("npm run keys on a database", () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let admin: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    env = { DATABASE_URL: database.url };
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await database.drop();
  });

  it("makes keys that end when they expire or are revoked", async () => {
    const api = startProcess({
      entry: "apps/api/src/server.ts",
      env: { ...env, PORT: "0", LOG_LEVEL: "info", TANDEM_MODEL: "demo/keyword" },
    });
    const [, url = ""] = await api.waitForLine(/Server listening at (http:[^"]+)"/);
    const expired = (await keys(["create", "--org", "a", "--expires", "1"], env)).lines.at(-1) as string;
    await admin.query("UPDATE api_keys SET expires_at = now() - interval '1 second'");
    const revoked = (await keys(["create", "--org", "a", "--name", "bad"], env)).lines.at(-1) as string;
    const { rows } = await admin.query<{ id: string }>("SELECT id FROM api_keys WHERE name = 'bad'");
    expect((await keys(["revoke", rows[0]?.id ?? ""], env)).code).toBe(0);
    const good = (await keys(["create", "--org", "a"], env)).lines.at(-1) as string;
    const status = async (key: string) => (await createWire(url, key).get("/agents")).status;
    expect([await status(expired), await status(revoked), await status(good)]).toEqual([401, 401, 200]);
    await api.close();
  });

  it.each([
    [[], "Usage"],
    [["create"], "--org"],
    [["create", "--org", "a", "--expires", "soon"], "--expires"],
    [["create", "--org", "tandem"], "the server's own"],
    [["create", "--org", "a", "--name", ""], "name must have 1 to 100 characters"],
    [["create", "--org", "a", "--user", "\u001b[31m"], "user must have"],
    [["create", "--org", "x".repeat(101)], "organization must have"],
    [["create", "--org", "a", "--admin=yes"], "--admin"],
    [["create", "--organisation", "a"], "--organisation"],
    [["revoke", "nonsense"], "no key nonsense"],
  ])("tells what is wrong with %j", async (args, word) => {
    const { code, faults } = await keys(args, env);
    expect(code).toBe(1);
    expect(faults).toContain(word);
    expect(faults).not.toMatch(/^ +at /m);
  });

  it("says where it looked when no stack runs, from its source as npm does", async () => {
    const env = { TANDEM_DATA_DIR: "/nowhere" };
    const { code, faults } = await keys(["list"], env, "apps/standalone/src/keys.ts");
    expect(code).toBe(1);
    expect(faults).toContain("/nowhere");
  });
});
