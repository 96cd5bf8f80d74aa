import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../answers/error-codes.js';

const ALLOW = 'GET, HEAD, OPTIONS';

/** Serves a page outside the API. Nest's guards don't run for it, so it needs no key and costs no quota. */
export function servePublicly(
  fastify: FastifyInstance,
  path: string,
  get: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  fastify.all(path, async (request: FastifyRequest, reply: FastifyReply) => {
    // A default. A page may set another value.
    reply.header('cache-control', 'no-store');
    switch (request.method) {
      case 'GET':
      case 'HEAD':
        return get(request, reply);
      case 'OPTIONS':
        return reply.code(204).header('allow', ALLOW).send();
      default: {
        const refusal = errorBody('method_not_allowed', `${request.method} is not allowed here, only ${ALLOW}`);
        return reply.code(refusal.status).header('allow', ALLOW).send(refusal);
      }
    }
  });
}
