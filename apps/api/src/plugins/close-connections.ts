// An orderly end: waiting polls are answered, and kept-alive connections do not hold the process.
import type { Socket } from "node:net";
import type { ApiContext, App } from "../context.ts";

/** How often connections that have become idle are closed while the server closes, in milliseconds. */
const LOOK_MS = 50;

/** How long requests may take to end once the server closes, in milliseconds. Then their connections are cut. */
const GRACE_MS = 5_000;

/** Adds what happens when the application closes. */
export function closeConnections(app: App, { waiters, feeds }: ApiContext): void {
  let isClosing = false;
  const sockets = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const closeIdle = () => {
    app.server.closeIdleConnections();
    // Clients open connections ahead of their requests; the server counts those as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  app.addHook("preClose", async () => {
    isClosing = true;
    waiters.shutdown();
    feeds.shutdown();
    // A connection whose reply is under way is not idle yet when the server closes, and would be kept alive.
    const timer = setInterval(closeIdle, LOOK_MS);
    // Some never become idle: those that stopped in the middle of a request.
    const cut = setTimeout(() => app.server.closeAllConnections(), GRACE_MS);
    app.server.once("close", () => {
      clearInterval(timer);
      clearTimeout(cut);
    });
    timer.unref();
    cut.unref();
  });
  app.addHook("onSend", async (_request, reply) => {
    if (isClosing) reply.header("connection", "close");
  });
}
