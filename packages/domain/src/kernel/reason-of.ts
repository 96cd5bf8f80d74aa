import { DomainError } from './errors.js';

/** The error's message for the operator. Never its other properties, which may contain private data. */
export function reasonOf(error: unknown): string {
  // Its own message is for clients, so it doesn't say why the service is unavailable.
  if (error instanceof DomainError && error.kind === 'unavailable' && error.cause !== undefined)
    return reasonOf(error.cause);
  // Node throws one error for all addresses of a host that could not be reached.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
