import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';

/** What is published of a query: its values are nobody's business. */
export interface TracedQuery {
  readonly name?: string | undefined;
  readonly text: string;
}

/** For whoever traces queries; without one they cost nothing more. */
const channel = tracingChannel<unknown, TracedQuery>('adoption-store:query');

type Send = (...parameters: unknown[]) => unknown;

/** Runs `send`, a client's `query`, whose answer is a promise or goes to the callback that comes last. */
export function traced(send: Send, parameters: unknown[]): unknown {
  const query = isTraced() ? queryOf(parameters[0]) : undefined;
  if (query === undefined) return send(...parameters);
  const last = parameters.length - 1;
  if (typeof parameters[last] === 'function') {
    return channel.traceCallback(send, last, query, undefined, ...parameters);
  }
  const promise = send as (...parameters: unknown[]) => Promise<unknown>;
  return channel.tracePromise(promise, query, undefined, ...parameters);
}

/** Runs what it is given as part of whatever the caller is at now; undefined where nobody traces. */
export function callersTrace(): (<Result>(work: () => Result) => Result) | undefined {
  return isTraced() ? AsyncLocalStorage.snapshot() : undefined;
}

function isTraced(): boolean {
  return channel.start.hasSubscribers;
}

function queryOf(statement: unknown): TracedQuery | undefined {
  if (typeof statement === 'string') return { text: statement };
  const { name, text } = (statement ?? {}) as Partial<TracedQuery>;
  return text === undefined ? undefined : { name, text };
}
