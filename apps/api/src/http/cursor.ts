import { crc32 } from 'node:zlib';
import { int64From } from './validation.js';

/** Where a page of `resource` ended, as the opaque text clients hand back. */
export function encodeCursor(resource: string, after: bigint): string {
  const place = `${resource}:${after}`;
  // So that one that was cut short or mistyped is told from one of another place.
  return Buffer.from(`${place}:${crc32(place).toString(36)}`).toString('base64url');
}

/** What `encodeCursor` was given, or undefined where the text isn't its work. */
export function decodeCursor(resource: string, cursor: unknown): bigint | undefined {
  if (typeof cursor !== 'string') return undefined;
  const after = int64From(Buffer.from(cursor, 'base64url').toString('latin1').split(':')[1]);
  return after !== undefined && encodeCursor(resource, after) === cursor ? after : undefined;
}
