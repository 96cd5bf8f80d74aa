import { type Instant, SECOND } from '@adoption-store/domain';

const TIME = String.raw`\d\d:\d\d:\d\d`;
/** The three date formats of HTTP (RFC 9110 §5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`. */
const DATES = [
  String.raw`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} ${TIME} GMT`,
  String.raw`[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d ${TIME} GMT`,
  String.raw`[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d ${TIME} \d{4}`,
].map((form) => new RegExp(`^${form}$`));

/**
 * The milliseconds that a header `Retry-After` asks for (RFC 9110 §10.2.3): seconds or a date. Undefined if it is
 * malformed, or there are several.
 *
 * @param now when the request was made.
 */
export function retryAfter(headers: readonly string[] = [], now: Instant): number | undefined {
  const [header, ...others] = headers;
  if (header === undefined || others.length > 0) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * SECOND;
  if (!DATES.some((form) => form.test(header))) return undefined;
  const date = Date.parse(header.endsWith('GMT') ? header : `${header} GMT`);
  // Date.parse takes 30 February for 2 March. The day is the first number of each form.
  const exists = new Date(date).getUTCDate() === Number(/\d+/.exec(header)?.[0]);
  return exists ? Math.max(0, date - now) : undefined;
}
