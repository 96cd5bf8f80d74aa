export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** Whether `value` is a bigint in −2^63 … 2^63−1, the range of identifiers. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;

/** The integer of a decimal text without leading zeros. Undefined if it isn't a 64-bit integer. */
export function int64From(text: unknown): bigint | undefined {
  const value = typeof text === 'string' && INTEGER.test(text) ? BigInt(text) : undefined;
  return isInt64(value) ? value : undefined;
}
