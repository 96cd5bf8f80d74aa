import { continueTrace, parseTraceparent, type Span, type TraceContext } from '@adoption-store/telemetry';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its step of a trace, once somebody has asked (`traceOf`) or it is being traced. */
    trace?: TraceContext;
    span?: Span;
  }
}

/** The step of a trace that the request is: of the client's trace where it has sent one, else of a new one. */
export function traceOf(request: FastifyRequest): TraceContext {
  return (request.trace ??= continueTrace(parseTraceparent(request.headers['traceparent'])));
}

/** A careless client may send its key as its request id: that is given back to it, and to nobody else. */
export function loggedId(requestId: string): string {
  return requestId.startsWith('aas_') ? 'redacted' : requestId;
}
