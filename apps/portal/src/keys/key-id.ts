import { INT64_MAX } from '@adoption-store/domain';

/** The id of a key that the text of an address names, or undefined if no key can have it. */
export function keyIdFrom(text: string): bigint | undefined {
  const id = /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : undefined;
  return id === undefined || id > INT64_MAX ? undefined : id;
}
