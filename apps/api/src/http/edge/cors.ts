import type { Admission } from '@adoption-store/admission';
import type { RouteTable } from '@adoption-store/web/edge';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction as Done } from 'fastify';
import type { HttpError } from '../answers/error-codes.js';
import { refuseRepeatedHeaders } from './repeated-headers.js';

/** The origins whose pages may call the API: all, or these. */
export type CorsOrigins = '*' | readonly string[];

const EXPOSED =
  'ETag, Link, Location, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
  'RateLimit, RateLimit-Policy, WWW-Authenticate, Allow, Deprecation, Sunset, X-Stability, Idempotent-Replayed';
/** The headers that a page may send, whatever it has asked for: the browser keeps the answer for later requests. */
const TAKEN = [
  ...['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match', 'user-agent', 'x-request-id'],
  'traceparent',
];
const MOST_OTHERS = 64;
/** Without `*`, which would allow every header. */
const HEADER_NAME = /^[\w!#$%&'+.^`|~-]{1,64}$/;
/** Headers of a browser (https://fetch.spec.whatwg.org/#forbidden-request-header) or of a proxy, by their whole name … */
const OF_OTHERS = new RegExp(
  '^(?:accept-(?:charset|encoding)|connection|content-length|cookie2?|date|dnt|expect|forwarded|host|keep-alive' +
    '|max-forwards|origin|referer|set-cookie|te|trailer|transfer-encoding|upgrade|via|(?:true|x|x-cluster)-client-ip' +
    '|x-real-ip)$',
);
/** … and by its beginning. */
const KINDS_OF_OTHERS = /^(?:access-control|cf|fastly|proxy|sec|x-forwarded|x-original|x-rewrite)(?:-|$)/;
const MAX_AGE_SECONDS = '7200';

/** Headers that let pages of an origin read a response. Default: any origin, for errors before a request is parsed. */
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
    private readonly admission: Admission,
  ) {
    this.isForAll = origins === '*';
  }

  /** A Fastify `onRequest` hook. Its headers are set before anything refuses the request, so pages can read why. */
  onRequest(request: FastifyRequest, reply: FastifyReply, refusal: HttpError | undefined, done: Done): void {
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

  /** Answers a preflight. It needs no key, as browsers send none, isn't counted, and is the same for every path. */
  private async answer(request: FastifyRequest, reply: FastifyReply, isAllowed: boolean): Promise<void> {
    const { ip, repeated } = request;
    if (repeated !== undefined) refuseRepeatedHeaders(repeated);
    const { headers } = await this.admission.peekAddress(ip);
    if (isAllowed) {
      const asked = request.headers['access-control-request-headers'] ?? '';
      reply
        .header('vary', `${this.isForAll ? '' : 'Origin, '}Access-Control-Request-Headers`)
        .header('access-control-allow-methods', this.routes.allMethods().join(', '))
        .header('access-control-allow-headers', allowedHeaders(asked))
        .header('access-control-max-age', MAX_AGE_SECONDS);
    }
    reply.code(204).headers(headers).send();
  }
}

/**
 * The headers that a page may send if it asks for these: an instrumented one adds some that the API doesn't know. Names
 * for a browser or a proxy are left out, so a page can't pretend to be either.
 */
function allowedHeaders(asked: string): string {
  const names = asked.split(',').map((name) => name.trim().toLowerCase());
  const others = names.filter((name) => HEADER_NAME.test(name) && !TAKEN.includes(name) && !isOfOthers(name));
  return [...TAKEN, ...new Set(others.slice(0, MOST_OTHERS))].join(', ');
}

function isOfOthers(name: string): boolean {
  // Some servers read a `_` as a `-`.
  const dashed = name.replaceAll('_', '-');
  return OF_OTHERS.test(dashed) || KINDS_OF_OTHERS.test(dashed);
}

/** Whether a request's target, which may be an absolute URL, is below `/v1`. */
function isOfApi(target: string): boolean {
  return /^(?:https?:\/\/[^/?#]*)?\/v1(?:[/?#]|$)/.test(target);
}
