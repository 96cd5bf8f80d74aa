import { httpDate } from './http-date.js';

const warned = new Set<string>();

/** Warns if a response says that its operation is deprecated (RFC 9745, RFC 8594): once per process and operation. */
export function warnIfDeprecated(operation: string, headers: Headers): void {
  if (!headers.has('Deprecation') || warned.has(operation)) return;
  warned.add(operation);
  // Shows only the date: other text of the server could contain the key.
  const sunset = httpDate(headers.get('Sunset'));
  const until = sunset === undefined ? '' : `, and ends on ${new Date(sunset).toISOString()}`;
  console.warn(`${operation} is deprecated${until}`);
}
