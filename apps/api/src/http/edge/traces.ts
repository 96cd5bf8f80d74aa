import { continueTrace, parseTraceparent, type Span, type TraceContext, type Tracing } from '@adoption-store/telemetry';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { shownRoute } from './observers.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace context; set at the first use of `traceOf`, or when the request is traced. */
    trace?: TraceContext;
    span?: Span;
  }
}

/** The trace context of the request: in the client's trace if it sent one, otherwise in a new one. */
export function traceOf(request: FastifyRequest): TraceContext {
  return (request.trace ??= continueTrace(parseTraceparent(request.headers['traceparent'])));
}

/**
 * Creates a span for each request. Path and query are never recorded, because a careless client may put its key into
 * them; the span has the route instead.
 */
export function traceRequests(fastify: FastifyInstance, tracing: Tracing): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { method, protocol, headers } = request;
    const route = shownRoute(request.routeOptions.url ?? '*');
    const span = tracing.start(`${method} ${route}`, {
      kind: 'server',
      parent: parseTraceparent(headers['traceparent']),
      attributes: { 'http.request.method': method, 'http.route': route, 'url.scheme': protocol },
    });
    request.trace = span.context;
    request.span = span;
    span.run(done);
  });
  fastify.addHook('onResponse', (request, { statusCode }, done) => {
    const caller = request.caller as typeof request.caller | undefined;
    const key = caller && String(caller.key.id);
    const isError = statusCode >= 500;
    request.span?.end(
      {
        'http.response.status_code': statusCode,
        'error.type': isError ? String(statusCode) : undefined,
        'adoption_store.key_id': key,
      },
      isError,
    );
    done();
  });
}
