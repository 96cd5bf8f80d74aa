/** Milliseconds of a date in a header (RFC 9110 §5.6.7). Undefined if the text is none, or its day doesn't exist. */
function httpDate(text: string | null): number | undefined {
  if (text === null || !/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  // One of HTTP's three date formats has no time zone.
  const date = Date.parse(text.replace(/( GMT)?$/, ' GMT'));
  // Date.parse takes 30 February for 2 March. The day is the first number of each format.
  return new Date(date).getUTCDate() === Number(/\d+/.exec(text)?.[0]) ? date : undefined;
}

/**
 * `Retry-After` in seconds (RFC 9110 §10.2.3). The API sends seconds; a proxy may send a date. Others, as -5 or 1.5,
 * are ignored.
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After') ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const date = httpDate(text);
  if (date === undefined) return undefined;
  // Uses the sender's clock, because the local one may be wrong.
  const now = httpDate(headers.get('Date')) ?? Date.now();
  return Math.max(0, (date - now) / 1000);
}

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
