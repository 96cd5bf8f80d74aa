import { parse, rawJSON, stringify } from '@ungap/raw-json';
import { answers, int64Properties, type Shape } from './generated.js';

const INT64_END = 2n ** 63n;

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

/** Whether the API's operation, such as `GET /pets`, can have this successful response. */
export function isAnswer(operation: string, status: number, body: unknown): boolean {
  const shape = answers[operation];
  if (shape === null) return status === 204;
  return shape === undefined || fits(body, shape);
}

/** More properties than those of the shape are allowed: the API may add some. */
export function fits(value: unknown, shape: Shape): boolean {
  if (shape === 'int64') return typeof value === 'bigint' && value >= -INT64_END && value < INT64_END;
  if (shape === 'integer') return Number.isInteger(value);
  if (typeof shape === 'string') return typeof value === shape;
  if (0 in shape) {
    if (shape.length === 2) return value === null || fits(value, shape[0]);
    return Array.isArray(value) && value.every((each) => fits(each, shape[0]));
  }
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(shape).every(([name, property]) =>
    fits((value as Readonly<Record<string, unknown>>)[name], property),
  );
}
