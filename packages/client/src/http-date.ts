/** Milliseconds of a date in a header (RFC 9110 §5.6.7). Undefined if the text is none, or its day doesn't exist. */
export function httpDate(text: string | null): number | undefined {
  if (text === null || !/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  // One of HTTP's three date formats has no time zone.
  const date = Date.parse(text.replace(/( GMT)?$/, ' GMT'));
  // Date.parse takes 30 February for 2 March. The day is the first number of each format.
  return new Date(date).getUTCDate() === Number(/\d+/.exec(text)?.[0]) ? date : undefined;
}
