import type { RouteTable } from '@adoption-store/web/edge';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction as Done } from 'fastify';
import type { AddressLimits } from './address-limits.js';
import type { HttpRefusal } from '../answers/error-codes.js';
import { refuseRepeatedHeaders } from './repeated-headers.js';

/** The origins whose pages may call the API: all, or these. */
export type CorsOrigins = '*' | readonly string[];

const EXPOSED =
  'ETag, Link, Location, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
  'Deprecation, Sunset, X-Stability, Idempotent-Replayed';
const TAKEN =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, User-Agent, X-Request-Id, traceparent';
const MAX_AGE_SECONDS = '7200';

/**
 * Headers that let pages of an origin read a response. Default: of any origin, for errors before a request is parsed.
 */
export function readableBy(origin = '*'): Readonly<Record<string, string>> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** CORS for `/v1` (https://fetch.spec.whatwg.org/#http-cors-protocol). Cookies aren't used: a key authenticates. */
export class Cors {
  /** Whether all origins get the same response. If not, `Vary: Origin` tells caches that it depends on the origin. */
  readonly isForAll: boolean;

  constructor(
    private readonly origins: CorsOrigins,
    private readonly routes: RouteTable,
    private readonly limits: AddressLimits,
  ) {
    this.isForAll = origins === '*';
  }

  /**
   * A Fastify `onRequest` hook. Its headers are set before anything refuses the request, so that pages can read why.
   */
  onRequest(request: FastifyRequest, reply: FastifyReply, refusal: HttpRefusal | undefined, done: Done): void {
    const { method, headers, originalUrl } = request;
    const { origin } = headers;
    if (!isOfApi(originalUrl)) {
      done(refusal);
      return;
    }
    if (!this.isForAll) reply.header('vary', 'Origin');
    const isAllowed = origin !== undefined && (this.isForAll || this.origins.includes(origin));
    if (isAllowed) reply.headers(readableBy(this.isForAll ? '*' : origin));
    // A browser asks with a preflight whether its page may send a request. Any other OPTIONS is an ordinary request.
    const isPreflight =
      method === 'OPTIONS' && origin !== undefined && headers['access-control-request-method'] !== undefined;
    if (isPreflight && refusal === undefined) this.answer(request, reply, isAllowed).catch(done);
    else done(refusal);
  }

  /**
   * Answers a preflight. It needs no key, because browsers send none, isn't counted, and is the same for every path.
   */
  private async answer({ ip, repeated }: FastifyRequest, reply: FastifyReply, isAllowed: boolean): Promise<void> {
    if (repeated !== undefined) refuseRepeatedHeaders(repeated);
    const { headers } = await this.limits.look(ip);
    if (isAllowed) {
      reply
        .header('access-control-allow-methods', this.routes.allMethods().join(', '))
        .header('access-control-allow-headers', TAKEN)
        .header('access-control-max-age', MAX_AGE_SECONDS);
    }
    reply.code(204).headers(headers).send();
  }
}

/** Whether a request's target, which may be an absolute URL, is below `/v1`. */
function isOfApi(target: string): boolean {
  return /^(?:https?:\/\/[^/?#]*)?\/v1(?:[/?#]|$)/.test(target);
}
