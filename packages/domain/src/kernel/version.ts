/** SHA-256 of the text's UTF-8 bytes, in hexadecimal. */
export type Sha256 = (text: string) => string;

/** Identifies an entity's content. No text contains U+0000 (`isStorable`), so different values have different versions. */
export function versionOf(values: readonly (bigint | string)[], sha256: Sha256): string {
  return sha256(values.join('\0'));
}
