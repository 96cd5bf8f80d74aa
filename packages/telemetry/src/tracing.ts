import type { TraceContext } from './trace-context.js';

export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanOptions {
  readonly kind: 'server' | 'consumer';
  /** The step of the trace that this one follows from; without one a new trace begins. */
  readonly parent: TraceContext | undefined;
  readonly attributes: Attributes;
}

/** A step of a trace while it lasts. */
export interface Span {
  readonly context: TraceContext;
  /** Runs `work`; what it asks the database becomes steps below this one. */
  readonly run: <Result>(work: () => Result) => Result;
  readonly end: (attributes: Attributes, isError: boolean) => void;
}

/** Tells a collector what happened when, by OpenTelemetry. */
export interface Tracing {
  readonly start: (name: string, options: SpanOptions) => Span;
  /** Sends what isn't sent yet. */
  readonly close: () => Promise<void>;
}
