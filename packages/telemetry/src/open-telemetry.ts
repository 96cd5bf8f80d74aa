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

/** Milliseconds. */
const LONGEST_GOODBYE = 1_000;
const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER } as const;

/** The events that packages/infrastructure publishes for each query. */
interface Query {
  readonly name?: string | undefined;
  readonly text: string;
  readonly error?: unknown;
}

/**
 * OpenTelemetry's SDK, with what its standard variables say: the endpoint, headers and time limits of the exporter, the
 * sampler, the limits of spans and batches, the service's name and its resource's attributes.
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
    // A collector that is away holds nobody up.
    close: () => Promise.race([provider.shutdown(), delay(LONGEST_GOODBYE, undefined, { ref: false })]),
  };
}

function contextOf(parent: TraceContext | undefined) {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** A step for each query that is part of a trace. Its text has parameters where its values are, which stay untold. */
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
        // An error's message may repeat a value.
        span?.setAttribute('error.type', codeOf(query.error));
      }
      span?.end();
    },
    error: () => undefined,
  });
}

/** The SQLSTATE, Node's code, or what kind of error it is. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  return 'code' in error ? String(error.code) : error.name;
}
