import { defineConfig } from "vitest/config";

/** Conditions that make `@tandem/sdk` resolve to its source instead of its build. */
const conditions = ["tandem-source", "node"];

interface ProjectOptions {
  globalSetup?: string[];
  timeoutMs: number;
  /** False for files that leave nothing behind: they share what they import. Default true. */
  isolate?: boolean;
}

const project = (name: string, options: ProjectOptions) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    globalSetup: options.globalSetup ?? [],
    isolate: options.isolate ?? true,
    restoreMocks: true,
    testTimeout: options.timeoutMs,
    hookTimeout: 120_000,
  },
});

const services = ["test/support/global-setup.ts"];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project("unit", { timeoutMs: 30_000, isolate: false }),
      project("integration", { globalSetup: services, timeoutMs: 60_000 }),
      project("contract", { globalSetup: services, timeoutMs: 60_000 }),
      project("e2e", { globalSetup: [...services, "test/support/build-first.ts"], timeoutMs: 120_000 }),
    ],
  },
});
