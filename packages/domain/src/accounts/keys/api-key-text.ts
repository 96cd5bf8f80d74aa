import { BASE62, randomBase62 } from '../../kernel/base62.js';
import type { Cryptography } from '../../kernel/cryptography.js';

/** The deployment that accepts the key. It is part of the key's text. */
export type KeyEnvironment = 'live' | 'staging';

const SECRET_LENGTH = 32; // 32 · log2(62) = 190 bits
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32
const KEY_TEXT = new RegExp(`^aas_([a-z]{1,16})_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new key's text: `aas_<environment>_`, 32 random base62 characters, and the CRC-32 of all these in 6 characters. */
export function generateKeyText(environment: KeyEnvironment, cryptography: Cryptography): string {
  const text = `aas_${environment}_${randomBase62(SECRET_LENGTH, cryptography)}`;
  return text + checksum(text);
}

/** The environment in a key's text. Undefined if its form or checksum is wrong: it was never issued. */
export function environmentOf(text: string): string | undefined {
  const environment = KEY_TEXT.exec(text)?.[1];
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? environment : undefined;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** CRC-32 (ISO 3309, as in zip and gzip) of an ASCII text, 0 … 2^32−1. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc = (crc >>> 8) ^ (TABLE[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
