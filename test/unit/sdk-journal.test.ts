// The journal: what the next process knows of a call, and what it does with it.
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Journal, type JournalEntry, TandemClient, tool } from "@tandem/sdk";
import { fileJournal } from "@tandem/sdk/node";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  type FakeTandemServer,
  fakeCall,
  fakeSessionId,
  startFakeTandemServer,
} from "../support/fake-tandem-server.ts";
import { startProcess } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";

let server: FakeTandemServer;
let folder: string;

beforeEach(async () => {
  server = await startFakeTandemServer();
  folder = await mkdtemp(join(tmpdir(), "tandem-journal-"));
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const key = `${fakeSessionId}/call_1`;
const done: JournalEntry = {
  state: "done",
  result: { kind: "tool_result", tool_req: fakeCall("charge"), result: "charged" },
};
const isEmpty = async () => (await readdir(folder)).length === 0;

/** Waits for the session with a tool that counts its runs. */
async function wait(journal: Journal, options: { sideEffects?: "none" | "idempotent" | "unsafe" } = {}) {
  const seen = { runs: 0, keys: [] as string[] };
  const client = new TandemClient({ baseUrl: server.baseUrl, apiKey: "key", journal });
  const charge = tool({
    name: "charge",
    description: "Charges a card.",
    ...options,
    fn: (_, { idempotencyKey }) => {
      seen.runs += 1;
      seen.keys.push(idempotencyKey);
      return "charged";
    },
  });
  await client.session(fakeSessionId).waitForCompletion({ tools: [charge] });
  return seen;
}

describe("a file journal", () => {
  it("gives what was written, to another one of the folder too, until it is removed", async () => {
    await fileJournal(folder).write(key, { state: "started" });
    expect(await fileJournal(folder).read(key)).toEqual({ state: "started" });
    await fileJournal(folder).write(key, done);
    expect(await fileJournal(folder).read(key)).toEqual(done);
    await fileJournal(folder).remove(key);
    expect(await fileJournal(folder).read(key)).toBeNull();
    expect(await isEmpty()).toBe(true);
  });

  it("knows nothing of a folder that is not there, and makes it when it writes", async () => {
    const journal = fileJournal(join(folder, "a/b"));
    expect(await journal.read(key)).toBeNull();
    await journal.remove(key);
    await journal.write(key, done);
    expect(await journal.read(key)).toEqual(done);
  });

  it.each([
    "../../etc/passwd",
    "a/b",
    "a\\b",
    "NUL",
    "con",
    ".",
    "",
    "x".repeat(5_000),
    "é\u0000💥",
    "A",
    "a",
  ])("keeps the hostile key %j inside its folder, apart from others", async (hostile) => {
    const journal = fileJournal(folder);
    await journal.write(hostile, done);
    await journal.write(`${hostile}x`, { state: "started" });
    expect(await readdir(folder)).toHaveLength(2);
    expect(await journal.read(hostile)).toEqual(done);
  });

  it.each(["", "{", "null", '{"state":"done"}', '{"state":"done","result":{"kind":"tool_result"}}'])(
    "takes a file that holds %j for a call that was started",
    async (text) => {
      const journal = fileJournal(folder);
      await journal.write(key, done);
      const [name = ""] = await readdir(folder);
      await writeFile(join(folder, name), text);
      expect(await journal.read(key)).toEqual({ state: "started" });
    },
  );

  it("takes the file of another call for one that was started", async () => {
    const journal = fileJournal(folder);
    await journal.write(key, done);
    const [name = ""] = await readdir(folder);
    const text = await readFile(join(folder, name), "utf8");
    await writeFile(join(folder, name), text.replace("call_1", "call_2"));
    expect(await journal.read(key)).toEqual({ state: "started" });
  });

  it("is never seen half written, however many write at once", async () => {
    const journals = [fileJournal(folder), fileJournal(folder)];
    const writes = Array.from({ length: 40 }, (_, n) => journals[n % 2]?.write(key, done));
    const reads = Array.from({ length: 40 }, async (_, n) => journals[n % 2]?.read(key));
    for (const entry of await Promise.all(reads)) expect([null, "done"]).toContain(entry?.state ?? null);
    await Promise.all(writes);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("lets go of files that nobody came back for in 30 days, and of no others in the folder", async () => {
    await fileJournal(folder).write("old", done);
    const [name = ""] = await readdir(folder);
    const then = Date.now() / 1_000 - 31 * 86_400;
    await writeFile(join(folder, "notes.txt"), "mine");
    for (const file of [name, "notes.txt"]) await utimes(join(folder, file), then, then);
    await fileJournal(folder).write(key, done);
    expect(await readdir(folder)).toHaveLength(2);
    expect(await fileJournal(folder).read("old")).toBeNull();
  });
});

describe("with a journal", () => {
  it("a call runs, and its entry is removed when the server has the result", async () => {
    server.call(fakeCall("charge"));
    expect(await wait(fileJournal(folder))).toEqual({ runs: 1, keys: [key] });
    await waitFor(isEmpty, { what: "an empty journal" });
  });

  it("a call that is done is posted, and not run", async () => {
    await fileJournal(folder).write(key, done);
    server.call(fakeCall("charge"));
    expect(await wait(fileJournal(folder), { sideEffects: "unsafe" })).toMatchObject({ runs: 0 });
    expect(server.results).toMatchObject([{ result: "charged" }]);
    await waitFor(isEmpty, { what: "an empty journal" });
  });

  it.each(["none", "idempotent"] as const)(
    "a call that was started runs again with side effects: %s",
    async (sideEffects) => {
      await fileJournal(folder).write(key, { state: "started" });
      server.call(fakeCall("charge"));
      expect(await wait(fileJournal(folder), { sideEffects })).toEqual({ runs: 1, keys: [key] });
    },
  );

  it("a call that was started and is unsafe is not run: the model is told", async () => {
    await fileJournal(folder).write(key, { state: "started" });
    server.call(fakeCall("charge"));
    expect(await wait(fileJournal(folder), { sideEffects: "unsafe" })).toMatchObject({ runs: 0 });
    expect(server.results).toMatchObject([
      { kind: "error_event", error: expect.stringMatching(/may or may not have taken effect.*Check before/) },
    ]);
    await waitFor(isEmpty, { what: "an empty journal" });
  });

  it("knows that a call was not started yet when it waits for a permission", async () => {
    const entries = new Map<string, JournalEntry>();
    const journal = {
      read: (key: string) => entries.get(key) ?? null,
      write: (key: string, entry: JournalEntry) => void entries.set(key, entry),
      remove: (key: string) => void entries.delete(key),
    };
    const client = new TandemClient({
      baseUrl: server.baseUrl,
      apiKey: "key",
      journal: journal as unknown as Journal,
    });
    const seen: unknown[] = [];
    const charge = tool({
      name: "charge",
      description: "Charges a card.",
      requiresApproval: true,
      fn: () => seen.push(...entries.values()),
    });
    server.call(fakeCall("charge"));
    await client.session(fakeSessionId).waitForCompletion({
      tools: [charge],
      onPermissionRequest: () => {
        seen.push(entries.size);
        return "allow";
      },
    });
    expect(seen).toEqual([0, { state: "started" }]);
    // Functions that give no promises are as good.
    await waitFor(() => entries.size === 0, { what: "an empty journal" });
  });

  it("that cannot be written no call is started, and the wait says so", async () => {
    const journal: Journal = {
      read: async () => null,
      write: async () => Promise.reject(new Error("The disk is full")),
      remove: async () => {},
    };
    server.call(fakeCall("charge"));
    await expect(wait(journal)).rejects.toThrow("The disk is full");
    expect(server.results).toEqual([]);
  });

  it("that fails once the handler is through, the result is posted all the same", async () => {
    const journal: Journal = {
      read: async () => null,
      write: async (_, { state }) => (state === "done" ? Promise.reject(new Error("Full")) : undefined),
      remove: async () => Promise.reject(new Error("Full")),
    };
    server.call(fakeCall("charge"));
    expect(await wait(journal)).toMatchObject({ runs: 1 });
    expect(server.results).toMatchObject([{ result: "charged" }]);
  });
});

describe("a process that is killed", () => {
  const start = (sideEffects: string, does: "return" | "hang") => {
    const child = startProcess({
      entry: "test/support/crashing/journaled-client.ts",
      args: [server.baseUrl, fakeSessionId, folder, sideEffects, does],
    });
    onTestFinished(() => child.close());
    return child;
  };

  it.each(["none", "idempotent", "unsafe"])(
    "between run and post leaves the result to the next one (%s)",
    async (sideEffects) => {
      let isUp = false;
      server.intercept = ({ path }) => (path.endsWith("/tool_results") && !isUp ? "hang" : undefined);
      server.call(fakeCall("charge"));
      const first = start(sideEffects, "return");
      await waitFor(() => server.requestsTo("POST", "/tool_results").length > 0, {
        what: "the post",
        timeoutMs: 20_000,
      });
      first.kill("SIGKILL");
      await first.exited;
      isUp = true;
      const second = start(sideEffects, "return");
      await second.waitForLine(/^ended completed$/);
      expect(first.stdout).toEqual([`ran ${key}`]);
      expect(second.stdout).toEqual(["ended completed"]);
      expect(server.results).toMatchObject([{ result: `charged by ${first.pid}` }]);
      await waitFor(isEmpty, { what: "an empty journal" });
    },
  );

  it.each([
    ["none", ["ran", "ended"]],
    ["unsafe", ["ended"]],
  ])("while its handler runs: with side effects %s the next one does %j", async (sideEffects, does) => {
    server.call(fakeCall("charge"));
    const first = start(sideEffects, "hang");
    await first.waitForLine(/^ran/);
    first.kill("SIGKILL");
    await first.exited;
    const second = start(sideEffects, "return");
    await second.waitForLine(/^ended completed$/);
    expect(second.stdout.map((line) => line.split(" ")[0])).toEqual(does);
    expect(server.results).toHaveLength(1);
  });
});
