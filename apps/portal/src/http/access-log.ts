import type { Log } from '@adoption-store/telemetry';
import type { FastifyInstance } from 'fastify';

const HEALTH = ['/livez', '/readyz'];

/** Logs one line per request. It has the route, not the address, which may contain personal data. */
export function logRequests(fastify: FastifyInstance, { logger }: Pick<Log, 'logger'>): void {
  fastify.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    const { url: route = '*' } = request.routeOptions;
    // Successful health checks aren't logged: probes repeat them every few seconds.
    if (status >= 500 || !HEALTH.includes(route)) {
      const duration = Math.round(elapsedTime * 1_000) / 1_000;
      logger.info({ request_id: request.id, method: request.method, route, status, duration_ms: duration }, 'request');
    }
    done();
  });
}
