import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AddressLimits } from './address-limits.js';
import { isOfApi } from './request-target.js';
import type { RouteTable } from './route-table.js';

/** The origins whose pages may call the API: all, or these. */
export type CorsOrigins = '*' | readonly string[];

const EXPOSED =
  'ETag, Link, Location, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
  'Deprecation, Sunset, X-Stability, Idempotent-Replayed';
const TAKEN =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, User-Agent, X-Request-Id, traceparent';
const MAX_AGE_SECONDS = '7200';

/** Lets pages of an origin read a response. Refusals at the socket are for all: they are the same for everybody. */
export function readableBy(origin = '*'): Readonly<Record<string, string>> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** CORS for `/v1` (https://fetch.spec.whatwg.org/#http-cors-protocol). Without credentials: a key authenticates. */
export class Cors {
  constructor(
    private readonly origins: CorsOrigins,
    private readonly routes: RouteTable,
    private readonly limits: AddressLimits,
  ) {}

  /** Sets the headers before anything else can refuse the request, so that a page can read each refusal. */
  onRequest(request: FastifyRequest, reply: FastifyReply): void {
    const { origin } = request.headers;
    const { origins } = this;
    // Most callers aren't pages. They don't pay for headers that only browsers read.
    if ((origin === undefined && origins === '*') || !isOfApi(request.originalUrl)) return;
    if (origins !== '*') reply.header('vary', 'Origin');
    if (origin === undefined) return;
    if (origins === '*') reply.headers(readableBy());
    else if (origins.includes(origin)) reply.headers(readableBy(origin));
  }

  /** Whether a browser asks if its page may send a request. Any other OPTIONS is a request like all. */
  isPreflight({ method, headers, originalUrl }: FastifyRequest): boolean {
    if (method !== 'OPTIONS' || headers.origin === undefined) return false;
    return headers['access-control-request-method'] !== undefined && isOfApi(originalUrl);
  }

  /** Answers it without a key, which browsers don't send, and counts nothing. It tells nothing of the path. */
  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { headers } = await this.limits.look(request.ip);
    if (reply.hasHeader('access-control-allow-origin')) {
      reply
        .header('access-control-allow-methods', this.routes.allMethods().join(', '))
        .header('access-control-allow-headers', TAKEN)
        .header('access-control-max-age', MAX_AGE_SECONDS);
    }
    reply.code(204).headers(headers).send();
  }
}
