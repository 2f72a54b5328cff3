import { invalidRequest } from "@tandem/engine/domain/errors";
import type { FastifyRequest } from "fastify";

/** A host name, an IPv4 address, or an IPv6 one in brackets, with or without a port. */
const HOST = /^(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * Where shared sessions are shown: a slash and a token follow.
 *
 * @param publicUrl the server's address as others see it; without it the request's own protocol and host are taken, and
 *   never a forwarded header, which anybody could send
 * @throws {TandemError} `invalid_request` when it has to be the request's host and that is none
 */
export function toSharedUrl(
  { protocol, host }: Pick<FastifyRequest, "protocol" | "host">,
  publicUrl: string | undefined,
): string {
  const base = publicUrl ?? `${protocol}://${host}`;
  if (publicUrl === undefined && !(HOST.test(host) && URL.canParse(base))) {
    const msg = "host must be a name or an address, with or without a port: the links are made of it";
    throw invalidRequest(["header", "host"], msg, "host_invalid");
  }
  return `${base}/api/v2/shared`;
}
