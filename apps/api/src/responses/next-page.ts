import { crc32 } from 'node:zlib';
import { int64From } from '../requests/validation.js';

/** Where a page of `resource` ended, as the opaque text clients hand back. */
export function encodeCursor(resource: string, after: bigint): string {
  const place = `${resource}:${after}`;
  // So that one that was cut short or mistyped is told from one of another place.
  return Buffer.from(`${place}:${crc32(place).toString(36)}`).toString('base64url');
}

/** The input of `encodeCursor`, or undefined if `encodeCursor` did not make the text. */
export function decodeCursor(resource: string, cursor: unknown): bigint | undefined {
  if (typeof cursor !== 'string') return undefined;
  const after = int64From(Buffer.from(cursor, 'base64url').toString('latin1').split(':')[1]);
  return after !== undefined && encodeCursor(resource, after) === cursor ? after : undefined;
}

/** A query parameter; one that is undefined was not asked for. */
export type Parameter = readonly [name: string, value: string | number | bigint | undefined];

/** The query of a list. */
export interface ListQuery {
  /** The filter of the request, without the cursor. */
  parameters(): readonly Parameter[];
}

/**
 * The `Link` header (RFC 8288) that leads from a page of the list at `address` to the next: the same query, further on.
 *
 * @param next where the page of `resource` has ended.
 */
export function nextPageLink(address: string, query: ListQuery, resource: string, next: bigint): string {
  const parameters: readonly Parameter[] = [...query.parameters(), ['cursor', encodeCursor(resource, next)]];
  const asked = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return `<${address}?${asked.join('&')}>; rel="next"`;
}
