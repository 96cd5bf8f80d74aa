import { continueTrace, parseTraceparent, type Span, type TraceContext } from '@adoption-store/telemetry';
import type { FastifyRequest } from 'fastify';

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

/** A careless client may send its key as the request id. Only that client gets it back; the log doesn't show it. */
export function loggedId(requestId: string): string {
  return requestId.startsWith('aas_') ? 'redacted' : requestId;
}
