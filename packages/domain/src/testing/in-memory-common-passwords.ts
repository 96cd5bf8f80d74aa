import type { CommonPasswords } from '../accounts/sign-in/common-passwords.js';

const WORDS = ['password', 'iloveyou', 'qwerty', 'letmein', 'p@ssw0rd', 'q1w2e3r4t5y6', '123456', '1234567890'];

/** The most common ones only. */
export class InMemoryCommonPasswords implements CommonPasswords {
  private readonly words = new Set(WORDS);

  async includesAny(texts: readonly string[]): Promise<boolean> {
    return texts.some((text) => this.words.has(text));
  }
}
