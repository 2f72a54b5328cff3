// The world outside that tools act on. It takes the id of a call as an idempotency key, as tools are told to do: a
// second run of the same call changes nothing and gives what the first one gave.
import { createServer } from "node:http";

/** What was looked up, and for which calls. */
export interface Ledger {
  /** Runs one call; every new call of a key has another value. */
  lookUp(key: string, callId: string): string;
  /** The value that a call was given; undefined when it never ran. */
  valueOf(callId: string): string | undefined;
  /** The calls that looked up a key: more than one when a step's effects landed twice. */
  callsOf(key: string): string[];
  /** How often a call ran, over all calls: above their number when clients died between running and posting. */
  readonly runs: number;
}

export function createLedger(): Ledger {
  const values = new Map<string, string>();
  const calls = new Map<string, string[]>();
  let runs = 0;
  return {
    lookUp(key, callId) {
      runs++;
      const known = values.get(callId);
      if (known !== undefined) return known;
      const ofKey = calls.get(key) ?? [];
      calls.set(key, [...ofKey, callId]);
      const value = `${key}=${values.size}`;
      values.set(callId, value);
      return value;
    },
    valueOf: (callId) => values.get(callId),
    callsOf: (key) => calls.get(key) ?? [],
    get runs() {
      return runs;
    },
  };
}

/** The ledger for client processes: `GET /?key=…&call_id=…&pid=…` answers with the value. */
export async function serveLedger(
  lookUp: (key: string, callId: string, pid: number) => string | Promise<string>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://ledger");
    const [key = "", callId = "", pid] = ["key", "call_id", "pid"].map(
      (name) => searchParams.get(name) ?? "",
    );
    response.end(await lookUp(key, callId, Number(pid)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The ledger has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Asks a served ledger, as a tool of this process. */
export async function lookUpAt(url: string, key: string, callId: string): Promise<string> {
  const response = await fetch(
    `${url}/?${new URLSearchParams({ key, call_id: callId, pid: String(process.pid) })}`,
  );
  return response.text();
}
