import type { IncomingMessage } from 'node:http';
import { ours } from '@adoption-store/domain';
import type { FastifyRequest } from 'fastify';
import { HOST } from './forwarding.js';
import { HttpFault } from './http-fault.js';

export const MAX_TARGET_LENGTH = 8 * 1024;

// The pattern that Node uses; Node has already answered 100-continue.
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

export function fragmentFault(): HttpFault {
  return new HttpFault('bad_request', ours`the URL must not have a fragment; a # that is data is written as %23`);
}

/**
 * Whether a proxy may find another end of the request (RFC 9112 §6.1 and §11.2): it has another coding than chunked, or
 * its sender, of HTTP/1.0, can't know of codings. Node's parser accepts both.
 */
export function isMiscoded({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (httpVersion === '1.0' || !/^chunked$/i.test(coding));
}

/**
 * Finds what in the request line or the Host header breaks HTTP's rules, before any other check.
 *
 * @param repeated what `repeatedHeaders` has found.
 */
export function framingFault(
  { raw, originalUrl }: FastifyRequest,
  repeated: readonly string[] | undefined,
): HttpFault | undefined {
  // First, because socket-faults.ts answers no later request of the connection.
  if (isMiscoded(raw)) {
    const message = ours`Transfer-Encoding may only be chunked, and only in HTTP/1.1`;
    return new HttpFault('bad_request', message, { connection: 'close' });
  }
  if (originalUrl.length > MAX_TARGET_LENGTH)
    return new HttpFault('uri_too_long', ours`the URL must be at most ${MAX_TARGET_LENGTH} characters`);
  // RFC 9112 §3.2 allows no fragment. Routers would treat it as part of the query, and caches would ignore it.
  if (originalUrl.includes('#')) return fragmentFault();
  if (raw.httpVersionMajor !== 1) return new HttpFault('bad_request', ours`the HTTP version must be 1.1 or 1.0`);
  const { host, expect } = raw.headers;
  // RFC 9112 §3.2: HTTP/1.1 requires exactly one Host header.
  if (host === undefined) {
    const isOptional = raw.httpVersion === '1.0';
    return isOptional ? undefined : new HttpFault('bad_request', ours`the Host header is missing`);
  }
  if (!HOST.test(host) || repeated?.includes('host') === true)
    return new HttpFault('bad_request', ours`the Host header must be one host name or address, sent once`);
  if (expect !== undefined && !CONTINUE.test(expect))
    return new HttpFault('expectation_failed', ours`the Expect header may only be 100-continue`);
  return undefined;
}

/**
 * The headers, in lower case, that a request has more than once although they may come once. Of most of these Node keeps
 * the first line and drops the others.
 *
 * @param rawHeaders name, value, name, value …
 * @param once matches the names of the headers that are used and aren't lists (RFC 9110 §5.3).
 */
export function repeatedHeaders(rawHeaders: readonly string[], once: RegExp): readonly string[] {
  const seen = new Set<string>();
  const repeated: string[] = [];
  for (const [index, text] of rawHeaders.entries()) {
    const name = text.toLowerCase();
    if (index % 2 === 1 || !once.test(name)) continue;
    if (seen.has(name)) repeated.push(name);
    seen.add(name);
  }
  return repeated;
}

/** A header's name as it is usually written, such as `If-None-Match`. */
export function shownHeader(name: string): string {
  return name.replace(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase());
}
