const warned = new Set<string>();

/** Warns once a process and operation, if a response says that its operation is deprecated (RFC 9745, RFC 8594). */
export function warnIfDeprecated(operation: string, headers: Headers): void {
  if (!headers.has('Deprecation') || warned.has(operation)) return;
  warned.add(operation);
  // Only the date: text of the server could quote the key.
  const sunset = new Date(headers.get('Sunset') ?? '').toJSON() as string | null;
  const until = sunset === null ? '' : `, and ends on ${sunset}`;
  console.warn(`${operation} is deprecated${until}`);
}
