import { shownHeader } from '@adoption-store/web/edge';
import { HttpRefusal } from './error-codes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The headers that came more than once although they may come once, in lower case. */
    repeated: readonly string[] | undefined;
  }
}

/**
 * The headers that may come once. Not X-Request-Id and traceparent: joined, two of them are invalid, so neither is used.
 */
export const ONCE = new RegExp(
  '^(?:access-control-request-method|authorization|content-type|host|idempotency-key|origin' +
    '|if-(?:match|none-match|modified-since|unmodified-since|range))$',
);

/** Refuses the first of them, if there is one. Runs after the key was accepted, so it counts against no address. */
export function refuseRepeatedHeaders([name]: readonly string[]): void {
  if (name === undefined) return;
  const code = name === 'content-type' ? 'unsupported_media_type' : 'invalid_parameter';
  throw new HttpRefusal(code, `${shownHeader(name)} must be sent once`);
}
