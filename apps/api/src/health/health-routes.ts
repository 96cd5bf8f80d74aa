import type { FastifyInstance } from 'fastify';
import { servePublicly } from '../http/public-route.js';

/** What an orchestrator asks for. */
export function serveHealth(fastify: FastifyInstance, isReady: () => Promise<boolean>): void {
  serve(fastify, '/livez', () => Promise.resolve(true));
  serve(fastify, '/readyz', isReady);
}

function serve(fastify: FastifyInstance, path: string, isWell: () => Promise<boolean>): void {
  servePublicly(fastify, path, async (_request, reply) => {
    const [status, text] = (await isWell()) ? [200, 'ok\n'] : [503, 'not ready\n'];
    return reply.code(status).type('text/plain; charset=utf-8').send(text);
  });
}
