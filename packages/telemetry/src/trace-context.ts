import { randomBytes } from 'node:crypto';

/** The position of a span in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the trace is recorded somewhere. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const LENGTH = 55;
const SAMPLED = 1;

/** Parses a `traceparent` header. Undefined if its syntax is wrong. Only later versions may be longer. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  const match = typeof text === 'string' ? TRACEPARENT.exec(text) : null;
  if (match === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = ''] = match;
  if (version === '00' && match.input.length > LENGTH) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The next span of a trace, or the first span of a new trace. */
export function continueTrace(parent: TraceContext | undefined): TraceContext {
  const { traceId = randomHex(16), isSampled = false } = parent ?? {};
  return { traceId, spanId: randomHex(8), isSampled };
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
