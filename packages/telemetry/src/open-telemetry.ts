import { tracingChannel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import {
  context,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { TraceContext } from './trace-context.js';
import type { Span, SpanOptions, Tracing } from './tracing.js';

/** Longest time, in milliseconds, to send the last spans when the process stops. */
const LAST_EXPORT_TIMEOUT = 1_000;
const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER } as const;

/** The events that packages/infrastructure publishes for each query. */
interface Query {
  readonly name?: string | undefined;
  readonly text: string;
  readonly error?: unknown;
}

/**
 * The OpenTelemetry SDK. Its standard environment variables set the exporter's endpoint, headers and timeouts, the
 * sampler, the limits of spans and batches, and the service's name and attributes.
 */
export function startOpenTelemetry(service: string): Tracing {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': `adoption-store-${service}` }))
      .merge(detectResources({ detectors: [hostDetector, envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracer = provider.getTracer('adoption-store');
  traceQueries(tracer);
  return {
    start(name, { kind, parent, attributes }: SpanOptions): Span {
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes } }, contextOf(parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        context: { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 },
        run: (work) => context.with(trace.setSpan(ROOT_CONTEXT, span), work),
        end(more, isError) {
          span.setAttributes({ ...more });
          if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    // An unreachable collector must not delay the shutdown.
    close: () => Promise.race([provider.shutdown(), delay(LAST_EXPORT_TIMEOUT, undefined, { ref: false })]),
  };
}

function contextOf(parent: TraceContext | undefined) {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** A span for each query of a trace. The SQL text has placeholders; the parameter values are never recorded. */
function traceQueries(tracer: ReturnType<BasicTracerProvider['getTracer']>): void {
  const spans = new WeakMap<object, OtelSpan>();
  tracingChannel<unknown, Query>('adoption-store:query').subscribe({
    start(query) {
      if (trace.getActiveSpan() === undefined) return;
      const operation = /\w+/.exec(query.text)?.[0].toUpperCase() ?? '';
      const attributes = {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.query.text': query.text,
      };
      spans.set(query, tracer.startSpan(query.name ?? operation, { kind: SpanKind.CLIENT, attributes }));
    },
    end: () => undefined,
    asyncStart: () => undefined,
    asyncEnd(query) {
      const span = spans.get(query);
      if (query.error !== undefined) {
        span?.setStatus({ code: SpanStatusCode.ERROR });
        // Only the code: an error's message may contain a parameter value.
        span?.setAttribute('error.type', codeOf(query.error));
      }
      span?.end();
    },
    error: () => undefined,
  });
}

/** The SQLSTATE, Node's error code, or the error's class. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  return 'code' in error ? String(error.code) : error.name;
}
