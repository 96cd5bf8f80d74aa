import { encodeCursor } from './cursor.js';

/** A query parameter; one that is undefined was not asked for. */
export type Parameter = readonly [name: string, value: string | number | bigint | undefined];

/** The query of a list. */
export interface ListQuery {
  /** What was asked for, wherever the page begins. */
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
