import { int64From } from './validation.js';

/** Where a page of `resource` ended, as the opaque text clients hand back. */
export function encodeCursor(resource: string, after: bigint): string {
  return Buffer.from(`${resource}:${after}`).toString('base64url');
}

/** What `encodeCursor` was given, or undefined where the text isn't its work. */
export function decodeCursor(resource: string, cursor: unknown): bigint | undefined {
  if (typeof cursor !== 'string') return undefined;
  const after = int64From(
    Buffer.from(cursor, 'base64url')
      .toString('latin1')
      .slice(resource.length + 1),
  );
  return after !== undefined && encodeCursor(resource, after) === cursor ? after : undefined;
}
