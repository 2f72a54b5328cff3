#!/usr/bin/env node
// `tandem`: runs the build in `dist/` when there is one, else the source, by tsx. What it is asked is the program's.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";

const build = new URL("../dist/main.js", import.meta.url);
const source = new URL("../src/main.ts", import.meta.url);
const workspaces = new URL("../../", import.meta.url);

if (isBuildCurrent()) {
  endWithShell(() => process.kill(process.pid, "SIGTERM"));
  await import(build.href);
} else runSource();

/** npx hands a signal to a shell of its own, which dies of it and leaves us alone: that is a signal to us, too. */
function endWithShell(end) {
  if (process.env.npm_command !== "exec") return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    end();
  }, 500);
  timer.unref();
}

/** In the repository the source goes before a build that is older: nobody should try out yesterday's code. */
function isBuildCurrent() {
  if (!existsSync(build)) return false;
  if (!existsSync(source)) return true;
  const builtAt = statSync(build).mtimeMs;
  return readdirSync(workspaces, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .every(({ name }) => isOlder(new URL(`${name}/src/`, workspaces), builtAt));
}

function isOlder(folder, timeMs) {
  if (!existsSync(folder)) return true;
  return readdirSync(folder, { withFileTypes: true, recursive: true }).every((entry) => {
    return !entry.isFile() || statSync(`${entry.parentPath}/${entry.name}`).mtimeMs <= timeMs;
  });
}

function runSource() {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const flags = ["--import", tsx, "--conditions=tandem-source"];
  const args = [...flags, fileURLToPath(source), ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  // At a terminal the child has a Ctrl-C already; a second one of the same moment changes nothing there.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  endWithShell(() => child.kill("SIGTERM"));
  child.on("error", (error) => {
    process.stderr.write(`tandem could not start node: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}
