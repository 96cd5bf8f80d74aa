/** A query parameter; one that is undefined was not asked for. */
export type Parameter = readonly [name: string, value: string | number | bigint | undefined];

/** The `Link` header (RFC 8288) that leads from a page of the list at `address` to the next: the same query, further on. */
export function nextPageLink(address: string, parameters: readonly Parameter[], cursor: string): string {
  const query = [...parameters, ['cursor', cursor] as const].flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return `<${address}?${query.join('&')}>; rel="next"`;
}
