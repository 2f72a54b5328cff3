import { createServer } from "node:net";

/** Postgres' own port, which people expect to be their Postgres. */
const avoidedPort = 5432;

/** A TCP port on 127.0.0.1 that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const port = await new Promise<number>((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0));
    });
  });
  return port === avoidedPort ? findFreePort() : port;
}
