import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What is told of a request once its answer is out. */
export type Observe = (request: FastifyRequest, reply: FastifyReply) => void;

/** A request that no route ever saw: it was answered on its connection. */
export interface SocketAnswer {
  readonly requestId: string;
  /** Undefined where not even that could be read. */
  readonly method: string | undefined;
  readonly status: number;
}

/** Watches what the API answers. */
export interface RequestObserver {
  /** Called once for each route, so that what can be prepared is. */
  readonly forRoute: (route: string) => Observe;
  readonly onSocketAnswer: (answer: SocketAnswer) => void;
}

/** What takes requests that no route takes. */
export const NO_ROUTE = '*';

/** From now on each route is watched; where nobody watches, nothing is called. */
export function observeRequests(fastify: FastifyInstance, observers: readonly RequestObserver[]): void {
  if (observers.length === 0) return;
  fastify.addHook('onRoute', (route) => {
    const observes = observers.map((observer) => observer.forRoute(shownRoute(route.url)));
    route.onResponse = (request, reply, done) => {
      for (const observe of observes) observe(request, reply);
      done();
    };
  });
}

/** As the documentation writes it, such as `/v1/pets/{petId}`. */
export function shownRoute(url: string): string {
  return url.includes('*') ? NO_ROUTE : url.replace(/:(\w+)/g, '{$1}');
}
