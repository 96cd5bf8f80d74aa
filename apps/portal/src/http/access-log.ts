import type { Log } from '@adoption-store/telemetry';
import type { FastifyInstance } from 'fastify';

const HEALTH = ['/livez', '/readyz'];

/** A line for each page that is asked for: of its address only what is the same for everybody. */
export function logRequests(fastify: FastifyInstance, { logger }: Log): void {
  fastify.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    const { url: route = '*' } = request.routeOptions;
    // Asked every few seconds by whoever watches over this process.
    if (status >= 500 || !HEALTH.includes(route)) {
      const duration = Math.round(elapsedTime * 1_000) / 1_000;
      logger.info({ request_id: request.id, method: request.method, route, status, duration_ms: duration }, 'request');
    }
    done();
  });
}
