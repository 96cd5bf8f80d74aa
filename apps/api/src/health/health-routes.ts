import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../http/error-codes.js';

const ALLOW = 'GET, HEAD, OPTIONS';

/**
 * What an orchestrator asks for. It is no part of the API: routes that Nest doesn't know have none of its guards, so they
 * need no key and count for nothing.
 */
export function serveHealth(fastify: FastifyInstance, isReady: () => Promise<boolean>): void {
  serve(fastify, '/livez', () => Promise.resolve(true));
  serve(fastify, '/readyz', isReady);
}

function serve(fastify: FastifyInstance, path: string, isWell: () => Promise<boolean>): void {
  fastify.all(path, async ({ method }: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    switch (method) {
      case 'GET':
      case 'HEAD': {
        const [status, text] = (await isWell()) ? [200, 'ok\n'] : [503, 'not ready\n'];
        return reply.code(status).type('text/plain; charset=utf-8').send(text);
      }
      case 'OPTIONS':
        return reply.code(204).header('allow', ALLOW).send();
      default: {
        const refusal = errorBody('method_not_allowed', `${method} is not allowed here, only ${ALLOW}`);
        return reply.code(refusal.status).header('allow', ALLOW).send(refusal);
      }
    }
  });
}
