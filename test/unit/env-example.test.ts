import { readFileSync } from "node:fs";
import { loadConfig as loadApiConfig } from "@tandem/api/config";
import { loadConfig as loadWorkerConfig } from "@tandem/worker/config";
import { describe, expect, it } from "vitest";
import { loadConfig as loadStandaloneConfig } from "../../apps/standalone/src/config.ts";
import { settingsRead } from "../support/settings-read.ts";

const example = read(".env.example");
const compose = read("docker-compose.yml");

/** `NAME=value` lines, those that are commented out too, with the lines above them. */
const settings = [...example.matchAll(/((?:^# .*\n)*)^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(
  ([, explanation = "", name = "", value = ""]) => ({ name, value, explanation }),
);
const loaders = [loadApiConfig, loadWorkerConfig, loadStandaloneConfig];

describe(".env.example", () => {
  it("names the settings that the programs and the compose file read, once each, and no others", () => {
    const read = new Set([...loaders.flatMap((load) => settingsRead(load)), ...variablesOf(compose)]);
    expect(settings.map(({ name }) => name).sort()).toEqual([...read].sort());
  });

  it("explains each", () => {
    for (const { name, explanation } of settings) expect(explanation, name).toMatch(/\w/);
  });

  it("shows the defaults of the code", () => {
    const required = { DATABASE_URL: "postgresql://localhost/tandem" };
    const shown = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
    for (const load of loaders) expect(load({ ...shown, ...required })).toEqual(load(required));
  });

  it("sets nothing but what compose asks for, so that a copy behaves as if there was none", () => {
    expect(example.match(/^[A-Z].*$/gm)).toEqual(["TANDEM_API_KEY="]);
  });
});

/** The names that compose fills in by itself: `${NAME…}`. */
function variablesOf(text: string): string[] {
  return [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = ""]) => name);
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}
