// A wire between a program and a server that a test can cut, as a failing network or a restarting server does.
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  port: number;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Listens again, on the same port. */
  mend(): Promise<void>;
  /** Passes nothing on any more, and breaks nothing: a server that is too slow to answer. */
  stall(): void;
  /** Passes on again, what came meanwhile too. */
  resume(): void;
  close(): Promise<void>;
}

/** Starts a proxy to a port of 127.0.0.1; a function gives the one of the moment. */
export async function startTcpProxy(target: number | (() => number)): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isStalled = false;
  const server = createServer((client) => {
    const upstream = connect(typeof target === "number" ? target : target(), "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      if (isStalled) from.pause();
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const cut = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    port: address.port,
    cut,
    mend: () => listen(address.port),
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => (server.listening ? cut() : Promise.resolve()),
  };
}
