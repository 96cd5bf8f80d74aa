import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { int64Properties } from './generated.js';

/** JSON of a value; bigints are written as the integers they are. */
export function toJson(value: unknown): string {
  return stringify(value) ?? '';
}

/** The value of a JSON text: each int64 of the API as an exact bigint, every other number as a number. */
export function fromJson(text: string): unknown {
  return parse(text, (name, value) => {
    if (!isLosslessNumber(value)) return value;
    const digits = value.toString();
    return int64Properties.has(name) && /^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits);
  });
}
