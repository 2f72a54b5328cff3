// A client of several API processes that does what every client should: what a retry may cure is sent again, to the next
// process. It says what it saw.
import { setTimeout as delay } from "node:timers/promises";
import { createWire, type WireOptions, type WireReply } from "./wire.ts";

/** How requests are sent, and what came of them besides replies. */
export interface PatientWireOptions {
  baseUrls: readonly string[];
  apiKey: string;
  /** How long one request is tried, in milliseconds. Default 30,000. */
  patienceMs?: number;
  /** Told of each try that failed: a status, or `connection`. */
  onRetry?: (reason: string, request: string) => void;
}

export interface PatientWire {
  /** Sends until there is a reply that a retry does not change. Requests must be repeatable. */
  send(method: string, path: string, options?: WireOptions): Promise<WireReply>;
}

/** The first wait before a retry, which doubles, and the longest, in milliseconds. */
const RETRY_MS = 50;
const LONGEST_RETRY_MS = 800;

export function createPatientWire(options: PatientWireOptions): PatientWire {
  const { patienceMs = 30_000, onRetry } = options;
  const wires = options.baseUrls.map((baseUrl) => createWire(baseUrl, options.apiKey));
  // Where the last reply came from: requests that fail at once must not send each other back and forth.
  let good = 0;
  return {
    async send(method, path, request) {
      const deadline = performance.now() + patienceMs;
      let next = good;
      for (let waitMs = RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
        const wire = wires[next % wires.length];
        if (!wire) throw new Error("A patient wire needs a base URL");
        const reply = await wire.send(method, path, request).catch((error: Error) => error);
        if (!(reply instanceof Error) && !isPassing(reply)) {
          good = next;
          return reply;
        }
        const reason = reply instanceof Error ? "connection" : String(reply.status);
        onRetry?.(reason, `${method} ${path}`);
        if (performance.now() > deadline)
          throw new Error(`${method} ${path}: ${reason} for ${patienceMs} ms`);
        next++;
        const waitS = reply instanceof Error ? 0 : Number(reply.headers.get("retry-after"));
        await delay(Math.max(waitMs, waitS * 1_000));
      }
    },
  };
}

function isPassing({ status, body }: WireReply): boolean {
  return [502, 503, 504].includes(status) || body?.code === "idempotency_in_flight";
}
