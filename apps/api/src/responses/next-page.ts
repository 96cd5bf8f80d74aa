import { crc32 } from 'node:zlib';
import { int64From } from '../requests/validation.js';

/** The end of a page of `resource`, as the opaque text that clients send back. */
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

/** A query parameter. Undefined means that it was not given. */
export type Parameter = readonly [name: string, value: string | number | bigint | undefined];

/** The query of a list. */
export interface ListQuery {
  /** The filter of the request, without the cursor. */
  parameters(): readonly Parameter[];
}

/**
 * The `Link` header (RFC 8288) from a page of the list at `address` to the next page of the same query.
 *
 * @param next the last id of this page.
 */
export function nextPageLink(address: string, query: ListQuery, resource: string, next: bigint): string {
  const parameters: readonly Parameter[] = [...query.parameters(), ['cursor', encodeCursor(resource, next)]];
  const asked = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return `<${address}?${asked.join('&')}>; rel="next"`;
}
