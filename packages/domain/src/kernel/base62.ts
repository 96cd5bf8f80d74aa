import type { Cryptography } from './cryptography.js';

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random text of 0–9, A–Z and a–z, each character equally likely: 5.95 bits per character. */
export function randomBase62(length: number, cryptography: Cryptography): string {
  let text = '';
  while (text.length < length) {
    for (const byte of cryptography.randomBytes(length)) {
      // 248 = 4 · 62: taking bytes above it would make the first characters of the alphabet more likely.
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
