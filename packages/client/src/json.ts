import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { int64Properties } from './generated.js';

/** JSON text of a value. A bigint becomes an integer. */
export function toJson(value: unknown): string {
  return stringify(value) ?? '';
}

/** Parses JSON: each int64 of the API becomes an exact bigint, every other number a number. */
export function fromJson(text: string): unknown {
  return parse(text, (name, value) => {
    if (!isLosslessNumber(value)) return value;
    const digits = value.toString();
    return int64Properties.has(name) && /^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits);
  });
}
