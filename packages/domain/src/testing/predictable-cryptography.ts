import type { Cryptography } from '../kernel/cryptography.js';

/**
 * Cryptography for tests only. Bytes come from a counter, and the digest (FNV-1a, eight times) only distinguishes
 * texts. Nothing it returns is secret.
 */
export class PredictableCryptography implements Cryptography {
  constructor(private state = 1) {}

  randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => {
      this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
      return this.state >>> 24;
    });
  }

  sha256(text: string): string {
    let digits = '';
    for (let round = 0; round < 8; round += 1) {
      let hash = (0x811c9dc5 ^ round) >>> 0;
      for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
      digits += hash.toString(16).padStart(8, '0');
    }
    return digits;
  }
}
