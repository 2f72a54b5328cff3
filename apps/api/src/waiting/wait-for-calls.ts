import type { ServerResponse } from "node:http";
import type { OfferedCallRow, OfferedCalls } from "@tandem/engine/postgres/read-offered-calls";
import type { FeedWaiter } from "./feed-waiters.ts";

/**
 * Reads a feed until it has calls, or the waiter's time is up: it was subscribed before, so nothing falls between.
 *
 * @param response the client's connection: when it closes, the wait is over
 * @returns no calls when the time is up or the server closes; "gone" when the client has
 */
export async function waitForCalls(
  waiter: FeedWaiter,
  { read, response }: { read: () => Promise<OfferedCalls>; response: ServerResponse },
): Promise<OfferedCallRow[] | "gone"> {
  const onClose = () => waiter.end("gone");
  response.once("close", onClose);
  try {
    for (;;) {
      const { rows, lapsesInMs } = await read();
      if (rows.length > 0) return rows;
      if (response.destroyed) return "gone";
      waiter.wakeIn(lapsesInMs);
      const reason = await waiter.ended;
      if (reason !== "woken") return reason === "gone" ? "gone" : [];
      waiter.waitOn();
    }
  } finally {
    waiter.end("gone");
    response.off("close", onClose);
  }
}
