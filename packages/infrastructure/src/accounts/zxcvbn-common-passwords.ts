import type { CommonPasswords } from '@adoption-store/domain';
import { Lazy } from '../kernel/lazy.js';

/** The dictionary lacks these, which the lists of NordPass or of the UK's National Cyber Security Centre have. */
const MISSING = `p@ssword abcdefghijkl abcdefghijklmnop abcdefghijklmnopqrstuvwxyz qwertyuiopasdfghjkl telechargement
  qwertyuiopasdfghjklzxcvbnm 1q2w3e4r5t6y7u8i9o0p correcthorsebatterystaple theworldinyourhand admintelecom megaparol
  111222tianya pe#5gz29ptzmse`.match(/\S+/g);

/** The 49,000 passwords of zxcvbn. They are loaded at the first use, in 40 ms, and take 4 MB. */
export class ZxcvbnCommonPasswords implements CommonPasswords {
  private readonly words = new Lazy(async () => {
    const { dictionary } = await import('@zxcvbn-ts/language-common');
    return new Set([...dictionary['passwords-common'], ...(MISSING ?? [])]);
  });

  async includesAny(texts: readonly string[]): Promise<boolean> {
    const words = await this.words.get();
    return texts.some((text) => words.has(text));
  }
}
