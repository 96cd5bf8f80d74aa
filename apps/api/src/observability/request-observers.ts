import type { FastifyRequest } from 'fastify';

/** Called after the answer has been sent, `milliseconds` after the request arrived. */
export type Observe = (request: FastifyRequest, status: number, milliseconds: number) => void;

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

/** The handler of requests that match no route. */
export const NO_ROUTE = '*';

/** As the documentation writes it, such as `/v1/pets/{petId}`. */
export function shownRoute(url: string): string {
  return url.includes('*') ? NO_ROUTE : url.replace(/:(\w+)/g, '{$1}');
}
