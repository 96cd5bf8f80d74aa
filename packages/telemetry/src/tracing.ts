import type { TraceContext } from './trace-context.js';

type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanOptions {
  readonly kind: 'server' | 'consumer';
  /** The parent span. Without one a new trace begins. */
  readonly parent: TraceContext | undefined;
  readonly attributes: Attributes;
}

/** A span that has started and not yet ended. */
export interface Span {
  readonly context: TraceContext;
  /** Runs `work`. Its database queries become child spans. */
  readonly run: <Result>(work: () => Result) => Result;
  readonly end: (attributes: Attributes, isError: boolean) => void;
}

/** Reports spans to an OpenTelemetry collector. */
export interface Tracing {
  readonly start: (name: string, options: SpanOptions) => Span;
  /** Sends the spans that aren't sent yet. */
  readonly close: () => Promise<void>;
}
