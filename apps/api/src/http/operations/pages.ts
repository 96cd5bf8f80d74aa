import { crc32 } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failedCondition, pageTag } from './conditions.js';

/** A cursor: the position where a page of `resource` ends, as an opaque text that clients send back. */
function encodeCursor(resource: string, after: bigint | string): string {
  const position = `${resource}:${after}`;
  // The checksum detects a cursor that was cut or mistyped.
  return Buffer.from(`${position}:${crc32(position).toString(36)}`).toString('base64url');
}

/**
 * Decodes a cursor. Undefined if `encodeCursor` did not create the text.
 *
 * @param read reads the position in it.
 */
export function decodeCursor<Position>(
  resource: string,
  cursor: unknown,
  read: (text: string) => Position | undefined,
): Position | undefined {
  if (typeof cursor !== 'string') return undefined;
  const decoded = Buffer.from(cursor, 'base64url').toString();
  const text = decoded.slice(resource.length + 1, decoded.lastIndexOf(':'));
  return encodeCursor(resource, text) === cursor ? read(text) : undefined;
}

export const EXAMPLE_CURSOR = encodeCursor('pets', 2n);

/** A page as it is sent. Concurrent requests for the same page may share it. */
export interface PresentedPage {
  readonly body: string;
  readonly tag: string;
  /** The query of the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * The page as text.
 *
 * @param resource the kind of the items, which their cursors name.
 * @param query of the request. Every parameter in it has been validated.
 * @param next the last id of this page. Undefined on the last page.
 */
export function presentPage(
  resource: string,
  query: string,
  body: string,
  next: bigint | string | undefined,
): PresentedPage {
  const tag = pageTag(body, next);
  return { body, tag, next: next === undefined ? undefined : nextQuery(query, encodeCursor(resource, next)) };
}

/** Adds the `ETag` of the page and the `Link` (RFC 8288) to the next one. A 304 needs no link: the tag covers it. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  origin: string,
  { body, tag, next }: PresentedPage,
): string {
  reply.header('etag', tag);
  if (next !== undefined && failedCondition(request.headers, tag) === undefined) {
    const parameters = request.params as Readonly<Record<string, string>>;
    const path = request.route.url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
    reply.header('link', `<${origin}${path}?${next}>; rel="next"`);
  }
  return body;
}

/** The same parameters, with another position to begin at. */
function nextQuery(query: string, cursor: string): string {
  const parameters = new URLSearchParams(query);
  parameters.delete('cursor');
  parameters.delete('from');
  parameters.append('cursor', cursor);
  return parameters.toString();
}
