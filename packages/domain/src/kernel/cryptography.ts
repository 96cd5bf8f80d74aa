/** Port: unpredictable bytes and a one-way digest. The domain has no randomness of its own. */
export interface Cryptography {
  /** `length` unpredictable bytes. */
  randomBytes(length: number): Uint8Array;
  /** SHA-256 of the text's UTF-8 bytes, as 64 lower-case hexadecimal digits. */
  sha256(text: string): string;
}
