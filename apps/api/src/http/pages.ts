import { isKnown } from '@adoption-store/web';
import { int64From } from '@adoption-store/domain';
import { crc32 } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { tagPage } from './conditions.js';
import { queryOf } from './request-target.js';

/** The end of a page of `resource`, as an opaque text that clients send back. */
export function encodeCursor(resource: string, after: bigint): string {
  const place = `${resource}:${after}`;
  // The checksum detects a cursor that was cut or mistyped.
  return Buffer.from(`${place}:${crc32(place).toString(36)}`).toString('base64url');
}

/** Decodes a cursor. Undefined if `encodeCursor` did not create the text. */
export function decodeCursor(resource: string, cursor: unknown): bigint | undefined {
  if (typeof cursor !== 'string') return undefined;
  const after = int64From(Buffer.from(cursor, 'base64url').toString('latin1').split(':')[1]);
  return after !== undefined && encodeCursor(resource, after) === cursor ? after : undefined;
}

export const EXAMPLE_CURSOR = encodeCursor('pets', 2n);

interface ListPage {
  /** The base of the link (`ApiContext.origin`). */
  readonly origin: string;
  /** The name of the list in its cursors. */
  readonly resource: string;
  readonly body: string | Buffer;
  /** The last id of this page. Undefined on the last page. */
  readonly next: bigint | undefined;
}

/** Adds the `ETag` of a page and the `Link` (RFC 8288) to the next one. A 304 needs no link, because the tag covers it. */
export function addPageHeaders(request: FastifyRequest, reply: FastifyReply, page: ListPage): void {
  const { body, next } = page;
  tagPage(reply, body, next);
  if (next !== undefined && !isKnown(request, reply)) reply.header('link', nextPageLink(request, page, next));
}

/** The request's own query, with another cursor. Every parameter in it has been validated. */
function nextPageLink({ url, routeOptions }: FastifyRequest, { origin, resource }: ListPage, next: bigint): string {
  const query = new URLSearchParams(queryOf(url));
  query.delete('cursor');
  query.append('cursor', encodeCursor(resource, next));
  return `<${origin}${routeOptions.url}?${query.toString()}>; rel="next"`;
}
