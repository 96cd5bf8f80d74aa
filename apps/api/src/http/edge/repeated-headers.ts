import { ours, ourText } from '@adoption-store/domain';
import { shownHeader } from '@adoption-store/web/edge';
import { HttpError } from '../answers/error-codes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The names, in lower case, of headers that were sent several times although only once is allowed. */
    repeated: readonly string[] | undefined;
  }
}

/**
 * The headers that may be sent only once. X-Request-Id and traceparent aren't among them: Node joins two of them into
 * one invalid value, which is ignored.
 */
export const ONCE = new RegExp(
  '^(?:access-control-request-method|authorization|content-type|host|idempotency-key|origin' +
    '|if-(?:match|none-match|modified-since|unmodified-since|range))$',
);

/** Refuses the first of them, if there is one. Runs after the key was accepted, so it counts against no address. */
export function refuseRepeatedHeaders([name]: readonly string[]): void {
  if (name === undefined) return;
  const code = name === 'content-type' ? 'unsupported_media_type' : 'invalid_parameter';
  throw new HttpError(code, ours`${ourText(shownHeader(name))} must be sent once`);
}
