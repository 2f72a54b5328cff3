import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Headers of every reply to a public link, errors too: the link is a secret, so it is not kept, indexed or told to
 * other sites. For a route's `onRequest`.
 */
export async function addPublicHeaders(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers({
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex, nofollow",
  });
}
