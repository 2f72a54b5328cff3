// The streams of this process: each has a heartbeat, ends with its client's credential, and is counted.
import type { Readable } from "node:stream";
import type { StreamEnd } from "@tandem/engine/telemetry/metrics";
import type { FastifyRequest } from "fastify";
import type { ApiContext, App, StreamTimes } from "../context.ts";
import type { KnownKeys } from "../known-keys.ts";
import { readCredential } from "../plugins/authentication.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { HEARTBEAT } from "./frames.ts";
import { createRunningTexts, type RunningTexts } from "./running-texts.ts";

const TIMES: StreamTimes = { heartbeatMs: 15_000, slowMs: 60_000 };

/** What writes a stream, until it says why it ends. */
export type StreamWriter = (stream: EventStream, texts: RunningTexts) => Promise<StreamEnd>;

/** Opens streams. */
export interface OpenStreams {
  /** Begins a stream, and gives the reply's body. */
  open(request: FastifyRequest, write: StreamWriter): Readable;
}

/** Has none yet. All of them end when the application closes. */
export function createOpenStreams(app: App, context: ApiContext): OpenStreams {
  const { engine, knownKeys, streamTimes = TIMES } = context;
  const shutdowns = new Set<() => void>();
  let texts: RunningTexts | null = null;
  app.addHook("preClose", async () => {
    for (const shutdown of shutdowns) shutdown();
    texts?.close();
  });

  return {
    open(request, write) {
      texts ??= createRunningTexts(engine.wake);
      const { metrics } = engine.telemetry;
      let isOpen = true;
      const stream = createEventStream({
        slowMs: streamTimes.slowMs,
        onSlow: () => {
          end("slow");
          stream.abort();
        },
      });
      const end = (reason: StreamEnd) => {
        if (!isOpen) return;
        isOpen = false;
        clearInterval(heartbeat);
        shutdowns.delete(shutdown);
        metrics.streams.dec();
        metrics.streamEnds.inc({ reason });
        stream.end();
      };
      const shutdown = () => {
        const isStuck = !stream.hasRoom;
        end("shutdown");
        if (isStuck) stream.abort();
      };
      const beat = async () => {
        if (stream.hasRoom) stream.write(HEARTBEAT);
        // A key that is revoked reads no more, however long its stream has been open.
        if (!(await isStillGood(knownKeys, request))) end("credential");
      };
      const heartbeat = setInterval(beat, streamTimes.heartbeatMs);
      shutdowns.add(shutdown);
      metrics.streams.inc();
      stream.body.once("close", () => end("gone"));
      write(stream, texts).then(end, (error: unknown) => {
        request.log.warn({ err: error }, "a stream ended before its session");
        end("failed");
      });
      return stream.body;
    },
  };
}

/** False when the request's key or token is known to be good no more. */
async function isStillGood(knownKeys: KnownKeys, request: FastifyRequest): Promise<boolean> {
  const credential = readCredential(request) ?? "";
  const look = knownKeys.identify(credential, { isFresh: false });
  return look.then(
    (principal) => principal !== null,
    () => true,
  );
}
