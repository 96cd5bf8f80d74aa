import {
  framingFault,
  HttpFault,
  isDecodable,
  queryOf,
  repeatedHeaders,
  type RouteTable,
  shownHeader,
} from '@adoption-store/web/edge';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the rest of the body can't be read. */
    bodyFault: HttpFault | undefined;
  }
}

/** The headers that the portal uses and that may come once. */
const ONCE = /^(?:content-type|cookie|host|if-none-match)$/;

/**
 * Refuses requests that break HTTP's rules, before their body is read. Call it after `readCookies`, which its page
 * needs.
 */
export function refuseBrokenRequests(fastify: FastifyInstance, routes: RouteTable): void {
  fastify.decorateRequest('bodyFault', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    done(faultOf(request, routes));
  });
  // Nobody listens for the fault of a body that came with its head.
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    done(request.bodyFault, payload);
  });
}

function faultOf(request: FastifyRequest, routes: RouteTable): HttpFault | undefined {
  const repeated = repeatedHeaders(request.raw.rawHeaders, ONCE);
  const fault = framingFault(request, repeated) ?? (request.is404 ? routes.faultOf(request) : undefined);
  if (fault !== undefined) return fault;
  if (!isDecodable(queryOf(request.originalUrl))) return new HttpFault('bad_request', 'the query is not UTF-8');
  const [name] = repeated;
  if (name === undefined) return undefined;
  return new HttpFault('bad_request', `${shownHeader(name)} must be sent once`);
}
