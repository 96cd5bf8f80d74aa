import { headerLine } from './api-response.js';
import { encodeCursor } from './cursor.js';

/** A query parameter; one that is undefined was not asked for. */
export type Parameter = readonly [name: string, value: string | number | bigint | undefined];

/** The query of a list. */
export interface ListQuery {
  /** What was asked for, wherever the page begins. */
  parameters(): readonly Parameter[];
}

/** The line that was made last of each query: most ask for pages that have been asked for. */
const lastLinks = new WeakMap<ListQuery, LastLink>();

interface LastLink {
  readonly address: string;
  readonly resource: string;
  readonly next: bigint;
  readonly line: string;
}

/**
 * The line of the `Link` header (RFC 8288) that leads from a page of the list at `address` to the next: the same query,
 * further on.
 *
 * @param next where the page of `resource` has ended.
 */
export function nextPageLink(address: string, query: ListQuery, resource: string, next: bigint): string {
  const last = lastLinks.get(query);
  if (last?.next === next && last.address === address && last.resource === resource) return last.line;
  const parameters: readonly Parameter[] = [...query.parameters(), ['cursor', encodeCursor(resource, next)]];
  const asked = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  const line = headerLine('link', `<${address}?${asked.join('&')}>; rel="next"`);
  lastLinks.set(query, { address, resource, next, line });
  return line;
}
