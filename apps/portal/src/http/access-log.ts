import type { Log } from '@adoption-store/telemetry';
import type { FastifyInstance } from 'fastify';

/** A line for each page that is asked for: of its address only what is the same for everybody. */
export function logRequests(fastify: FastifyInstance, { logger }: Log): void {
  fastify.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    logger.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? '*',
        status: statusCode,
        duration_ms: Math.round(elapsedTime * 1_000) / 1_000,
      },
      'request',
    );
    done();
  });
}
