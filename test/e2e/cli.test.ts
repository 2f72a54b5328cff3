// The command line as a process of its own, against a real stack.
import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createProgram } from "@tandem/cli/program";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastToolResults, type ModelScript } from "../support/fake-model-server.ts";
import { repositoryRoot } from "../support/processes.ts";
import { bundlePrograms } from "../support/programs.ts";
import { apiKey, startStack, type TestStack } from "../support/stack.ts";
import {
  type CommandOptions,
  type RunningCommand,
  startTandem,
  startTandemAtTerminal,
  startTandemByNpx,
  tandem,
} from "../support/tandem-command.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import { createWire } from "../support/wire.ts";

const run = promisify(execFile);
const toolsFile = "test/e2e/fixtures/tools.ts";
const strayTools = "test/e2e/fixtures/stray-tools.ts";
/** util-linux' `script`, which makes pseudo-terminals. */
const hasTerminal = process.platform === "linux";

/** Calls the tool that the message names, as `call NAME {…}`, then answers; `wait` never answers. */
const script: ModelScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return { text: `It said: ${results.map(({ content }) => content).join(", ")}` };
  const asked = JSON.stringify(request.body.messages.at(-1)?.content);
  if (asked.includes("wait")) return { hang: true };
  const [, name, args] = /call (\w+) (\{.*?\})/.exec(asked.replaceAll("\\", "")) ?? [];
  if (name === undefined) return { text: "Hello \u001b[2J there." };
  return { toolCalls: [{ name, arguments: JSON.parse(args ?? "{}") as object }] };
};

const lines = (text: string) => text.trimEnd().split("\n");

describe("tandem", () => {
  it("helps on every command, with examples, and needs no server for it", async () => {
    const { code, stdout, stderr } = await tandem(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of "up run tail sessions tools agents keys doctor completion".split(" ")) {
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    }
    const all: Command[] = [createProgram("1", () => undefined)];
    for (const command of all) {
      all.push(...command.commands);
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(help, command.name()).toMatch(/^Examples:\n {2}\S/m);
    }
  });

  it("says its version, and what is wrong with its usage by code 2", async () => {
    const { version } = JSON.parse(await readFile(join(repositoryRoot, "apps/cli/package.json"), "utf8"));
    expect(await tandem(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    const wrong = await tandem(["sessions", "list", "--limit", "0"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("--limit");
    expect((await tandem(["up", "--port", "abc"])).code).toBe(2);
  });

  it("says by code 3 that no server answers, and how to start one", async () => {
    const { code, stdout, stderr } = await tandem(["run", "Hello"], {
      env: { TANDEM_DATA_DIR: "/nowhere", TANDEM_BASE_URL: "http://127.0.0.1:9" },
    });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("No Tandem server answers at http://127.0.0.1:9.");
    expect(stderr).not.toMatch(/^ +at /m);
    const keys = await tandem(["keys", "list"], {
      env: { DATABASE_URL: "postgresql://me:secret@127.0.0.1:9/x" },
    });
    expect(keys).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("ECONNREFUSED") });
    expect(keys.stderr).not.toMatch(/^ +at |secret/m);
  });

  it("makes completion scripts that bash takes", async () => {
    const { stdout } = await tandem(["completion", "bash"]);
    const complete = async (...words: string[]) => {
      const line = `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}`;
      const call = `${words[0] === "npx" ? "_tandem_npx" : "_tandem"}; echo "\${COMPREPLY[@]}"`;
      return (await run("bash", ["-c", `${stdout}\n${line}; ${call}`])).stdout.trimEnd();
    };
    expect(await complete("tandem", "sessions", "''")).toBe("list get cancel message");
    expect(await complete("npx", "tandem", "run", "--approve", "''")).toBe("ask all none");
    expect(await complete("tandem", "run", "--app")).toBe("--approve");
    // Nothing of its own is where bash offers files.
    expect(await complete("tandem", "run", "--tools", "''")).toBe("");
    expect((await tandem(["completion", "fish"])).stdout).toContain("complete -c tandem");
    expect((await tandem(["completion", "tcsh"])).code).toBe(2);
  });
});

describe("the bin", () => {
  it("is found by npx in every folder of the repository", async () => {
    const { stdout } = await run("npx", ["tandem", "completion", "bash"], {
      cwd: join(repositoryRoot, "test/support"),
    });
    expect(stdout).toContain("complete -o default");
  });

  it("runs the build beside it, and a file of tools in TypeScript by that", async () => {
    const entries = { main: "apps/cli/src/main.ts" };
    const build = await bundlePrograms(entries, { splitting: true });
    const bin = join(build.paths.main, "../../bin/tandem.mjs");
    await mkdir(dirname(bin));
    await copyFile(join(repositoryRoot, "apps/cli/bin/tandem.mjs"), bin);
    const args = ["tools", "call", join(repositoryRoot, toolsFile), "add_numbers", "--first=1", "--second=2"];
    expect((await run(process.execPath, [bin, ...args])).stdout).toBe('{"ok":true,"result":3}\n');
    await build.close();
  });
});

describe("tandem tools", () => {
  it("does what the README shows", async () => {
    const readme = await readFile(join(repositoryRoot, "README.md"), "utf8");
    const part = readme.slice(
      readme.indexOf("## The command line"),
      readme.indexOf("## With docker compose"),
    );
    const [, file = ""] = /```ts\n([\s\S]*?)```/.exec(part) ?? [];
    const folder = join(repositoryRoot, "node_modules/.cache/tandem-cli-readme");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "orders.ts"), file);
    const lines = part.split("\n");
    const shown = lines.filter((line) => line.startsWith("$ npx tandem tools "));
    expect(shown).toHaveLength(2);
    for (const line of shown) {
      const ended = await tandem(line.split(" ").slice(3), { cwd: folder });
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      const { stdout } = ended;
      const from = lines.indexOf(line) + 1;
      expect(stdout.trimEnd()).toBe(lines.slice(from, from + stdout.trimEnd().split("\n").length).join("\n"));
    }
    await rm(folder, { recursive: true });
  });

  it("lists the tools of a file of any schema library", async () => {
    const { code, stdout, stderr } = await tandem(["tools", "list", toolsFile]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^get_weather +--city \[--days\] \[--place\] +The weather of a city\.$/m);
    expect(stdout).toMatch(/^book_table +--guest-names \[--seating\] \[--is-window\] --day/m);
    expect(stdout).toMatch(/^add_numbers +--first --second/m);
    expect(stdout).toMatch(/^wall_clock_count +--to/m);
  });

  it("calls one with its flags, and prints its result alone", async () => {
    const { code, stdout, stderr } = await tandem([
      "tools",
      "call",
      toolsFile,
      "get_weather",
      "--city",
      "Paris",
      "--place",
      '{"country":"FR"}',
    ]);
    expect(stdout).toBe('{"ok":true,"result":{"city":"Paris","sky":"sunny","place":{"country":"FR"}}}\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: "asking the weather service\n" });
  });

  it("transforms arguments by Zod 4, takes them from standard input, and lets flags win", async () => {
    const input = JSON.stringify({ guestNames: ["ann"], day: "one", seating: "outside" });
    const args = [
      "tools",
      "call",
      toolsFile,
      "book_table",
      "--json-file",
      "-",
      "--day=two",
      "--no-is-window",
    ];
    const { stdout } = await tandem(args, { input });
    const result = { guestNames: ["ann"], seating: "outside", isWindow: false, day: "day two" };
    expect(JSON.parse(stdout)).toEqual({ ok: true, result });
  });

  it("calls tools of Zod 3, and generators, whose progress is no result", async () => {
    const sum = await tandem([
      "tools",
      "call",
      toolsFile,
      "add_numbers",
      "--first",
      "-1.5",
      "--json",
      '{"first":9,"second":2}',
    ]);
    expect(sum.stdout).toBe('{"ok":true,"result":0.5}\n');
    const count = await tandem(["tools", "call", toolsFile, "wall_clock_count", "--to", "2"]);
    expect(count).toMatchObject({ code: 0, stdout: '{"ok":true,"result":2}\n', stderr: "… 1\n… 2\n" });
  });

  it("tells a failure on standard error, without what a terminal would obey", async () => {
    expect(await tandem(["tools", "call", toolsFile, "fail"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "tandem: the shelf is empty ␛[2J\n",
    });
  });

  it("ends by code 1 with a tool that leaves, throws where nobody catches, or never comes back", async () => {
    const call = (name: string) => tandem(["tools", "call", strayTools, name]);
    const [leaves, drops, never] = await Promise.all(["leaves", "drops", "never"].map(call));
    const stderr = (text: string) => ({ code: 1, stdout: "", stderr: expect.stringContaining(text) });
    expect(leaves).toMatchObject(stderr("tandem: process.exit() was called"));
    expect(drops).toMatchObject(stderr("tandem: Error: dropped ␛[2J\n"));
    expect(never).toMatchObject(stderr("tandem: Nothing is left to wait for"));
  });

  it("refuses arguments that do not fit, and unknown tools, by code 2, before a tool runs", async () => {
    const call = (...args: string[]) => tandem(["tools", "call", toolsFile, ...args]);
    const [few, nothing] = await Promise.all([
      call("get_weather", "--city", "Paris", "--days", "0"),
      call("nothing"),
    ]);
    expect(few).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("days: must be >= 1") });
    expect(few.stderr).not.toContain("asking the weather service");
    expect(nothing).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("It has: ") });
  });

  it("reads files of packages that are CommonJS, and names the place in one that fails", async () => {
    // Beside the repository's packages, as a person's own project would have the SDK in its own.
    const folder = join(repositoryRoot, "node_modules/.cache/tandem-cli-test");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), "{}");
    const tool = `{ name: "one", description: "One.", fn: () => 1 }`;
    await writeFile(
      join(folder, "good.ts"),
      `import { tool } from "@tandem/sdk";\nexport default [tool(${tool})];\n`,
    );
    await writeFile(join(folder, "bad.ts"), 'export {};\nthrow new Error("not today");\n');
    expect((await tandem(["tools", "call", "good.ts", "one"], { cwd: folder })).stdout).toBe(
      '{"ok":true,"result":1}\n',
    );
    const bad = await tandem(["tools", "list", "bad.ts"], { cwd: folder });
    expect(bad).toMatchObject({ code: 2, stdout: "" });
    expect(bad.stderr).toMatch(/bad\.ts cannot be loaded: not today\n.*bad\.ts:2/);
    await rm(folder, { recursive: true });
  });
});

describe("tandem with a server", () => {
  let stack: TestStack;
  let env: Record<string, string>;
  const ask = (args: string[], options: CommandOptions = {}) => tandem(args, { env, ...options });
  const runTools = (task: string, ...args: string[]) => ask(["run", task, "--tools", toolsFile, ...args]);
  const approving = (name: string) => ({ name, model: "compatible/fake", approval: "always" as const });

  beforeAll(async () => {
    stack = await startStack({ script });
    env = { TANDEM_BASE_URL: stack.baseUrl, TANDEM_API_KEY: apiKey };
    await createWire(stack.baseUrl, apiKey).post("/agents", {
      ...approving("careful"),
      description: "Asks first.",
    });
  });
  afterAll(() => stack.close());

  it("runs a session: the answer on standard output, what happens on standard error, no colour in a pipe", async () => {
    const { code, stdout, stderr } = await runTools('call get_weather {"city":"Rome"}');
    expect(stdout).toBe('It said: {"city":"Rome","sky":"sunny"}\n');
    expect(stderr).toMatch(/^session \S+$/m);
    expect(stderr).toMatch(/^→ get_weather \{"city":"Rome"\}$/m);
    expect(stderr).toMatch(/^← get_weather \{"city":"Rome","sky":"sunny"\} \d/m);
    expect(stderr).toMatch(/^asking the weather service$/m);
    expect(stderr).toMatch(/^2 steps, 1 tool call, /m);
    expect(`${stdout}${stderr}`).not.toContain("\u001b");
    expect(code).toBe(0);
  });

  it("runs one for machines: a line of JSON for each event, and the result last", async () => {
    const { code, stdout } = await runTools('call add_numbers {"first":1,"second":2}', "--json");
    const items = lines(stdout).map((line) => JSON.parse(line));
    expect(items[0].type).toBe("RequestStartEvent");
    const text = items.filter(({ type, step }) => type === "delta" && step === 2).map((item) => item.text);
    expect(text.join("")).toBe("It said: 3");
    expect(items.at(-1)).toMatchObject({
      type: "result",
      status: "completed",
      answer: "It said: 3",
      reason: "answered",
      tool_calls: [{ name: "add_numbers", args: { first: 1, second: 2 }, status: "succeeded" }],
      usage: { steps: 2 },
    });
    expect(code).toBe(0);
  });

  it("takes the task from standard input, and lets no control character of the model through", async () => {
    const { stdout } = await ask(["run", "-"], { input: "Good day\n" });
    expect(stdout).toBe("Hello ␛[2J there.\n");
  });

  it("needs somebody to ask for approvals, else ends the session and leaves with 5", async () => {
    const { code, stderr, stdout } = await runTools(
      'call get_weather {"city":"Rome"}',
      "--agent",
      "careful",
      "--json",
    );
    expect(code).toBe(5);
    expect(stderr).toContain("--approve all");
    expect(JSON.parse(lines(stdout).at(-1) ?? "")).toMatchObject({ type: "result", status: "interrupted" });
  });

  it("approves all or none, as the flag says", async () => {
    const task = 'call get_weather {"city":"Rome"}';
    const [all, none] = await Promise.all(
      ["all", "none"].map((mode) => runTools(task, "--agent", "careful", "--approve", mode)),
    );
    expect(all).toMatchObject({ code: 0, stdout: 'It said: {"city":"Rome","sky":"sunny"}\n' });
    expect(none).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The user allows no such calls."),
    });
  });

  it.runIf(hasTerminal)("asks at the terminal, and goes on with what was decided", async () => {
    const args = ["run", 'call get_weather {"city":"Rome"}', "--tools", toolsFile, "--agent", "careful"];
    const command = startTandemAtTerminal(args, { env: { ...env, TERM: "xterm" } });
    await command.waitFor(/Allow .*get_weather/, "the question");
    await command.waitFor(/"city": "Rome"[\s\S]*no \S*>/, "the whole of it");
    command.type("y\n");
    const { code, stdout } = await command.ended;
    expect(code).toBe(0);
    // Written while the model wrote it, and not again as the answer.
    expect(stdout.split('It said: {"city":"Rome","sky":"sunny"}')).toHaveLength(2);
    expect(stdout).toContain("\u001b[");
  });

  it("cancels the session at Ctrl-C and leaves with 130, at the end of its time with 124", async () => {
    const command = startTandem(["run", "wait"], { env });
    const [, id = ""] = await command.waitFor(/session (\S+)/, "the session");
    command.kill("SIGINT");
    expect(await command.ended).toMatchObject({ code: 130, stdout: "" });
    const wire = createWire(stack.baseUrl, apiKey);
    expect((await wire.get(`/sessions/${id}/status`)).body.status).toBe("interrupted");
    const late = await ask(["run", "wait", "--timeout", "0.5", "--json"]);
    expect(late.code).toBe(124);
    expect(JSON.parse(lines(late.stdout).at(-1) ?? "").status).toBe("interrupted");
  });

  it("cancels the session when a tool throws where nobody catches, and tells that", async () => {
    const { code, stdout, stderr } = await ask(["run", "call drops {}", "--tools", strayTools, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(lines(stdout).at(-1) ?? "")).toMatchObject({ type: "result", status: "interrupted" });
    expect(stderr).toContain("tandem: Error: dropped ␛[2J\n");
  });

  it("cancels the session when nobody reads any more", async () => {
    const command = startTandem(["run", "wait", "--json"], { env });
    const [, id = ""] = await command.waitFor(/session (\S+)/, "the session");
    command.closeStdout();
    const wire = createWire(stack.baseUrl, apiKey);
    // The next line finds the pipe closed.
    await wire.post(`/sessions/${id}/pause`, {});
    const { code, stderr } = await command.ended;
    expect(code).toBe(130);
    expect(stderr).not.toMatch(/EPIPE|^ +at /m);
    expect((await wire.get(`/sessions/${id}/status`)).body.status).toBe("interrupted");
  });

  it("tails a session: what was, then what comes, to its end", async () => {
    const wire = createWire(stack.baseUrl, apiKey);
    const agent = { name: "x", tools: [{ name: "get_weather", description: "x" }] };
    const id = await wire.create({ agent, messages: 'call get_weather {"city":"Oslo"}' });
    await wire.until(id, "awaiting_tool_results");
    const live = startTandem(["tail", id], { env });
    await live.waitFor(/→ get_weather/, "the call, from the past");
    await wire.post(`/sessions/${id}/tool_results`, {
      tool_req: { tool_name: "get_weather", args: { city: "Oslo" } },
      result: "snow",
    });
    const { code, stdout, stderr } = await live.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("← get_weather snow");
    expect(stdout).toContain("✓ The answer:\nIt said: snow");
    const [all, rest] = await Promise.all([
      ask(["tail", id, "--json", "--no-follow"]),
      ask(["tail", id, "--json", "--from", "3"]),
    ]);
    expect(lines(all.stdout).slice(3)).toEqual(lines(rest.stdout));
    expect(JSON.parse(lines(rest.stdout).at(-1) ?? "").type).toBe("AgentCompletionEvent");
  });

  it.runIf(hasTerminal)("shows the text at a terminal as it is written, and once", async () => {
    const wire = createWire(stack.baseUrl, apiKey);
    const agent = { name: "x", tools: [{ name: "get_weather", description: "x" }] };
    const id = await wire.create({
      agent,
      messages: 'call get_weather {"city":"Oslo"}',
      stream: true,
      idle_timeout_s: 60,
    });
    await wire.until(id, "awaiting_tool_results");
    const live = startTandemAtTerminal(["tail", id], { env });
    const isRead = async () =>
      /^tandem_streams 1$/m.test(await (await fetch(`${stack.baseUrl}/metrics`)).text());
    await waitFor(isRead, { what: "the stream's reader", timeoutMs: 30_000 });
    const call = { tool_name: "get_weather", args: { city: "Oslo" } };
    await wire.post(`/sessions/${id}/tool_results`, { tool_req: call, result: "snow" });
    await live.waitFor(/waits for a message/, "the end of the turn");
    await wire.post(`/sessions/${id}/messages`, { message: "Good day" });
    await live.waitFor(/Hello [\s\S]*waits for a message/, "the next turn");
    await ask(["sessions", "cancel", id]);
    const { code, stdout } = await live.ended;
    expect(code).toBe(0);
    const told = stdout.match(/It said: snow|Answered|Good day/g);
    expect(told?.slice(0, 3)).toEqual(["It said: snow", "Answered", "Good day"]);
  });

  it("lists, shows, cancels and answers sessions", async () => {
    const wire = createWire(stack.baseUrl, apiKey);
    const id = await wire.create({ agent: "tandem/assistant", messages: "wait" });
    const list = await ask(["sessions", "list", "--limit", "1"]);
    expect(list.stdout).toMatch(new RegExp(`^ID .*\n${id} +\\w+ .*tandem/assistant +wait\n$`));
    expect((await ask(["sessions", "cancel", id])).stderr).toBe(`Session ${id} is cancelled.\n`);
    const shown = await ask(["sessions", "get", id]);
    expect(shown.stdout).toMatch(/^status +interrupted \(cancelled\)$/m);
    expect((await ask(["sessions", "message", id, "Good day"])).code).toBe(0);
    await wire.until(id, "completed");
    expect(JSON.parse((await ask(["sessions", "get", id, "--json"])).stdout)).toMatchObject({ id });
  });

  it("tells a refusal by code 4, and ends quietly in a closed pipe", async () => {
    const [unknown, stranger] = await Promise.all([
      ask(["sessions", "get", "01890000-0000-7000-8000-000000000001"]),
      ask(["sessions", "list", "--api-key", "wrong-key-here"]),
    ]);
    expect(unknown).toMatchObject({ code: 4, stdout: "" });
    expect(unknown.stderr).toContain("404 session_not_found");
    expect(stranger).toMatchObject({ code: 4, stdout: "" });
    expect(stranger.stderr).toContain("401");
    const command = startTandem(["sessions", "list"], { env });
    command.closeStdout();
    expect(await command.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("keeps agents from files and standard input", async () => {
    const definition = { name: "support", description: "Helps.", instructions: "Be brief." };
    const made = await ask(["agents", "create", "-"], { input: JSON.stringify(definition) });
    expect(JSON.parse(made.stdout)).toMatchObject(definition);
    const changed = await ask(["agents", "update", "support", "-"], { input: '{"instructions":"Be kind."}' });
    expect(JSON.parse(changed.stdout)).toMatchObject({ ...definition, instructions: "Be kind." });
    expect((await ask(["agents", "list"])).stdout).toMatch(/^support +\(default\) +0 +Helps\.$/m);
    expect((await ask(["agents", "delete", "support"])).code).toBe(0);
    expect((await ask(["agents", "get", "support"])).code).toBe(4);
  });
});

describe("tandem up", () => {
  let folder: string;
  let up: RunningCommand;
  beforeAll(async () => {
    folder = await makeTemporaryFolder("tandem-cli-");
    await mkdir(join(folder, "below"));
  });
  afterAll(async () => {
    up.kill("SIGTERM");
    await waitFor(() => hasEnded(join(folder, ".tandem")), { what: "the stack's end" });
    await rm(folder, { recursive: true, force: true });
  });

  it("starts everything; commands below its folder find it; it ends with nothing left", async () => {
    const dataDir = join(folder, ".tandem");
    up = startTandem(["up", "--port", "0", "--data-dir", dataDir], { env: { LOG_LEVEL: "warn" } });
    const [, baseUrl = ""] = await up.waitFor(/API +(http:\/\/\S+)\/api\/v2/, "the address");
    await up.waitFor(/Ctrl-C ends it/, "the greeting");
    const here = { cwd: join(folder, "below") };

    const well = await tandem(["doctor", "--json"], here);
    const report = JSON.parse(well.stdout);
    expect(
      report.checks.map((check: { name: string; verdict: string }) => `${check.name} ${check.verdict}`),
    ).toEqual([
      "node ok",
      "settings ok",
      "models warn",
      "data folder ok",
      "database ok",
      "migrations ok",
      "queue ok",
      "wake-up channel ok",
      "api ok",
      "api key ok",
    ]);
    expect(well.code).toBe(0);
    const answered = await tandem(["run", "Hello"], here);
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });

    const made = await tandem(["keys", "create", "--org", "acme", "--admin"], here);
    const admin = made.stdout.trimEnd();
    expect(admin).toMatch(/^tdm_\S{43}$/);
    const other = ["--base-url", baseUrl, "--api-key", admin];
    const second = await tandem(["keys", "create", "--org", "acme", "--name", "second", ...other]);
    expect(second).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tdm_\S{43}\n$/) });
    const keys = JSON.parse((await tandem(["keys", "list", "--org", "acme", "--json"], here)).stdout);
    expect(keys.map(({ name }: { name: string }) => name)).toEqual(["key", "second"]);
    expect((await tandem(["keys", "revoke", keys[1].id], here)).code).toBe(0);
    expect((await tandem(["keys", "revoke", "nothing"], here)).code).toBe(4);
    const bad = await tandem(["doctor", ...other.slice(0, 3), second.stdout.trimEnd()], here);
    expect(bad.stdout).toMatch(/^fail +api key +the server does not know it$/m);
    expect(bad.code).toBe(1);

    up.kill("SIGTERM");
    expect((await up.ended).code).toBe(0);
    expect(await hasEnded(dataDir)).toBe(true);
    const gone = await tandem(["sessions", "list"], here);
    expect(gone.code).toBe(3);
    expect(gone.stderr).toContain("npx tandem up");
  });

  it("ends with npx, which passes no signals on", async () => {
    const dataDir = join(folder, ".tandem");
    const env = { LOG_LEVEL: "warn", TANDEM_DATA_DIR: dataDir, PORT: "0" };
    up = startTandemByNpx(["up"], { env });
    await up.waitFor(/Ctrl-C ends it/, "the greeting");
    expect(await hasEnded(dataDir)).toBe(false);
    up.kill("SIGTERM");
    await waitFor(() => hasEnded(dataDir), { what: "its end" });
  });
});

/** A running stack has its database's address in its folder. */
async function hasEnded(dataDir: string): Promise<boolean> {
  return stat(join(dataDir, "connection.json")).then(
    () => false,
    () => true,
  );
}
