import { parse, rawJSON, stringify } from '@ungap/raw-json';
import { int64Properties } from './generated.js';

/** JSON text of a value. A bigint becomes an integer. */
export function toJson(value: unknown): string {
  return stringify(value, function (this: Readonly<Record<string, unknown>>, name: string, said: unknown) {
    // If the program defines `BigInt.prototype.toJSON`, `said` is its result.
    const own = this[name];
    return typeof own === 'bigint' ? rawJSON(own.toString()) : said;
  });
}

/**
 * Parses JSON: each int64 of the API becomes an exact bigint, every other number a number. An int64
 * has at most 19 digits; to parse a bigint of millions of digits would take seconds.
 */
export function fromJson(text: string): unknown {
  const reviver = (name: string, value: unknown, { source = '' }: { readonly source?: string }) =>
    typeof value === 'number' && int64Properties.has(name) && /^-?\d{1,19}$/.test(source) ? BigInt(source) : value;
  return parse(text, reviver as Parameters<typeof parse>[1]);
}
