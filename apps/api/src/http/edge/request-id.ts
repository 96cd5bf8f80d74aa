import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { redactKeys } from '@adoption-store/telemetry';

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The client's own request id if it is valid, otherwise a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && REQUEST_ID.test(own) ? own : randomUUID();
}

/** A careless client may send its key as the request id. The client gets it back, but it is never logged. */
export function loggedId(requestId: string): string {
  return redactKeys(requestId);
}
