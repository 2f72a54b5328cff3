import { defineConfig } from "vitest/config";

/** Conditions that make `@tandem/sdk` resolve to its source instead of its build. */
const conditions = ["tandem-source", "node"];

interface ProjectOptions {
  globalSetup?: string[];
  timeoutMs: number;
}

const project = (name: string, options: ProjectOptions) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    globalSetup: options.globalSetup ?? [],
    // Files leave nothing behind, so that those which run in one process share what they import.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    testTimeout: options.timeoutMs,
    hookTimeout: 120_000,
  },
});

const services = ["test/support/global-setup.ts"];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project("unit", { timeoutMs: 30_000 }),
      project("integration", { globalSetup: services, timeoutMs: 60_000 }),
      project("contract", { globalSetup: services, timeoutMs: 60_000 }),
      project("e2e", { globalSetup: [...services, "test/support/build-first.ts"], timeoutMs: 120_000 }),
    ],
  },
});
