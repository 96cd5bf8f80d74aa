import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Observe, type RequestObserver, shownRoute } from './request-observers.js';

/** The status by which a request is logged and counted whose client has hung up, as by nginx. */
const ABANDONED = 499;

/** Tells the observers of every request, once: when its answer is out, or when its client has hung up. */
export function watchRequests(fastify: FastifyInstance, observers: readonly RequestObserver[]): void {
  if (observers.length === 0) return;
  const watched = new Map<string, readonly Observe[]>();
  const watch = (request: FastifyRequest, status: number, milliseconds: number) => {
    const { url = '*' } = request.routeOptions;
    const observes = watched.get(url) ?? observers.map((observer) => observer.forRoute(shownRoute(url)));
    watched.set(url, observes);
    for (const observe of observes) observe(request, status, milliseconds);
  };
  const startedAt = new WeakMap<FastifyRequest, number>();
  fastify.addHook('onRequest', (request, _reply, done) => {
    startedAt.set(request, performance.now());
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    // Its client may have hung up before.
    if (startedAt.delete(request)) watch(request, reply.statusCode, reply.elapsedTime);
    done();
  });
  fastify.addHook('onRequestAbort', (request, done) => {
    const began = startedAt.get(request);
    if (began !== undefined && startedAt.delete(request)) watch(request, ABANDONED, performance.now() - began);
    done();
  });
}
