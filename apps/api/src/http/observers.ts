import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Time of `performance.now()`. Undefined once the request has been reported. */
    startedAt: number | undefined;
  }
}

/** Called after the response has been sent, `milliseconds` after the request arrived. */
export type Observe = (request: FastifyRequest, status: number, milliseconds: number) => void;

/** The answer to a request that reached no route, because it could not be parsed. */
export interface SocketAnswer {
  readonly requestId: string;
  /** Undefined if the method could not be parsed. */
  readonly method: string | undefined;
  readonly status: number;
}

/** Observes the API's responses. */
export interface RequestObserver {
  /** Called once for each route, so that work can be done in advance. */
  readonly forRoute: (route: string) => Observe;
  readonly onSocketAnswer: (answer: SocketAnswer) => void;
}

/** The route of requests that match no other. */
export const NO_ROUTE = '*';

/** The route as the documentation writes it, such as `/v1/pets/{petId}`. */
export function shownRoute(url: string): string {
  return url.includes('*') ? NO_ROUTE : url.replace(/:(\w+)/g, '{$1}');
}

/** The status in logs and metrics if the client disconnected before the response. nginx uses the same. */
const ABANDONED = 499;

/** Calls the observers once for each request: after its response, or when its client disconnects. */
export function observeRequests(fastify: FastifyInstance, observers: readonly RequestObserver[]): void {
  if (observers.length === 0) return;
  const byRoute = new Map<string, readonly Observe[]>();
  const notify = (request: FastifyRequest, status: number, milliseconds: number) => {
    const { url = '*' } = request.routeOptions;
    const observes = byRoute.get(url) ?? observers.map((observer) => observer.forRoute(shownRoute(url)));
    byRoute.set(url, observes);
    for (const observe of observes) observe(request, status, milliseconds);
  };
  fastify.decorateRequest('startedAt', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.startedAt = performance.now();
    done();
  });
  const end = (request: FastifyRequest, status: number) => {
    // The client has disconnected, so the request is already reported.
    if (request.startedAt === undefined) return;
    notify(request, status, performance.now() - request.startedAt);
    request.startedAt = undefined;
  };
  fastify.addHook('onResponse', (request, reply, done) => {
    end(request, reply.statusCode);
    done();
  });
  fastify.addHook('onRequestAbort', (request, done) => {
    end(request, ABANDONED);
    done();
  });
}
