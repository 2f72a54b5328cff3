import { Type } from "@sinclair/typebox";
import { TandemError } from "@tandem/engine/domain/errors";
import { settleWithin } from "@tandem/engine/domain/time-limit";
import { listProbes } from "@tandem/engine/queries/check-readiness";
import type { ApiContext, App } from "../../context.ts";
import { errorReplies } from "../../schemas/errors.ts";

/** How long each part has to answer, in milliseconds. */
const CHECK_TIMEOUT_MS = 2_000;

/** `GET /readyz`: database, queue and wake-ups can be reached; 503 with the reason when not. */
export function getReadinessRoute(app: App, { engine }: ApiContext): void {
  app.route({
    method: "GET",
    url: "/readyz",
    config: { auth: "none" },
    schema: {
      operationId: "getReadiness",
      tags: ["server"],
      summary: "Whether requests can be served",
      security: [],
      response: { 200: Type.Object({ status: Type.Literal("ready") }), 503: errorReplies[503] },
    },
    async handler() {
      await Promise.all(listProbes(engine).map(({ what, probe }) => check(what, probe())));
      return { status: "ready" as const };
    },
  });
}

async function check(what: string, probe: Promise<void>): Promise<void> {
  try {
    await settleWithin(CHECK_TIMEOUT_MS, probe);
  } catch (error) {
    throw new TandemError("unavailable", `${what} is out of reach`, { cause: error });
  }
}
