import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../answers/error-codes.js';

/** Called when the response is sent, `milliseconds` after the request arrived. */
export type Observe = (request: FastifyRequest, status: number, milliseconds: number) => void;

/** The answer to a request that reached no route, because it could not be parsed. */
export interface SocketAnswer {
  readonly requestId: string;
  /** Undefined if the method could not be parsed. */
  readonly method: string | undefined;
  readonly status: number;
  readonly code: ErrorCode;
}

export interface RequestObserver {
  /** Called once for each route, so that work can be done in advance. */
  readonly forRoute: (route: string) => Observe;
  readonly onSocketAnswer: (answer: SocketAnswer) => void;
}

export const NO_ROUTE = '*';

/** The route as the documentation writes it, such as `/v1/pets/{petId}`. */
export function shownRoute(url: string): string {
  return url.includes('*') ? NO_ROUTE : url.replace(/:(\w+)/g, '{$1}');
}
