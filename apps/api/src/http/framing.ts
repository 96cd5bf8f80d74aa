import { METHODS } from 'node:http';
import { HOST } from '@adoption-store/web';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpRefusal } from './error-codes.js';

export const MAX_URL_LENGTH = 8 * 1024;

// The pattern that Node uses; Node has already answered 100-continue.
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

export function fragmentRefusal(): HttpRefusal {
  return new HttpRefusal('bad_request', 'the URL must not have a fragment; a # that is data is written as %23');
}

/** Refuses a request whose request line or Host header breaks HTTP's rules, before any other check. */
export function checkFraming({ raw, originalUrl }: FastifyRequest): HttpRefusal | undefined {
  if (originalUrl.length > MAX_URL_LENGTH) {
    return new HttpRefusal('uri_too_long', `the URL must be at most ${MAX_URL_LENGTH} characters`);
  }
  // RFC 9112 §3.2 allows no fragment. Routers would treat it as part of the query, and caches would ignore it.
  if (originalUrl.includes('#')) return fragmentRefusal();
  if (raw.httpVersionMajor !== 1) return new HttpRefusal('bad_request', 'the HTTP version must be 1.1 or 1.0');
  const { host, expect, 'transfer-encoding': coding } = raw.headers;
  // Only Node 20's parser accepts it. A proxy may find another end of the request (RFC 9112 §11.2).
  if (coding === '') {
    return new HttpRefusal('bad_request', 'the Transfer-Encoding header must not be empty', { connection: 'close' });
  }
  // RFC 9112 §3.2: HTTP/1.1 requires exactly one Host header.
  if (host === undefined) {
    const isOptional = raw.httpVersion === '1.0';
    return isOptional ? undefined : new HttpRefusal('bad_request', 'the Host header is missing');
  }
  if (!HOST.test(host) || isRepeated(raw.rawHeaders, 'host')) {
    return new HttpRefusal('bad_request', 'the Host header must be one host name or address, sent once');
  }
  if (expect !== undefined && !CONTINUE.test(expect)) {
    return new HttpRefusal('expectation_failed', 'the Expect header may only be 100-continue');
  }
  return undefined;
}

/** Routes every method that Node can parse, so that the guards also run for unknown ones. CONNECT has no path. */
export function routeEveryMethod(fastify: FastifyInstance): void {
  for (const method of METHODS.filter((each) => each !== 'CONNECT')) {
    // With `hasBody: false` Fastify doesn't read the body. JsonBody reads it after the guards.
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/** Whether a header was sent more than once; `rawHeaders` is name, value, name, value … */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index];
    if (each?.length === name.length && each.toLowerCase() === name) times += 1;
  }
  return times > 1;
}
