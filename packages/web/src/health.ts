import type { FastifyReply, FastifyRequest } from 'fastify';

type Get = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Registers the pages for an orchestrator's probes with `serve`. */
export function serveHealth(serve: (path: string, get: Get) => void, isReady: () => boolean): void {
  serve(
    '/livez',
    answer(() => true),
  );
  serve('/readyz', answer(isReady));
}

function answer(isWell: () => boolean): Get {
  return async (_request, reply) => {
    const [status, text] = isWell() ? [200, 'ok\n'] : [503, 'not ready\n'];
    return reply.code(status).type('text/plain; charset=utf-8').send(text);
  };
}
