import { isGuessable } from '../../accounts/sign-in/common-passwords.js';
import { openBefore } from './fixtures.js';
import type { Open, TestFramework } from './framework.js';

const EMAIL = 'Maria.Garcia77@example.org';

const GUESSABLE = [
  ...['Password123!', 'iloveyou12345', 'QwertyQwerty', 'letmein, letmein', '2026 password 2026', 'P@ssw0rd1234'],
  ...['1234567890123', '123456123456', 'q1w2e3r4t5y6', 'Ｐassword１２３４', 'adoptionstore1', 'Animal Adoption Store'],
  ...['maria.garcia77', 'MariaGarcia2026', 'maria.garcia77@example.org', 'maria garcia maria garcia', 'abca'.repeat(3)],
];

const GOOD = [
  ...[
    'a fairly long pass phrase',
    'a horse, a battery',
    'password of a horse',
    'maria likes long walks',
    '🐈🐕🐇🐢'.repeat(3),
  ],
  ...[
    'adoption of a store',
    'kT7#qLw9zR2m',
    '830957263418',
    'vier Kühe im Nebel',
    'три медведя в лесу',
    '猫がとても好きなので毎日',
  ],
];

/** The guarantees of every `CommonPasswords`, with the domain's rule. */
export function commonPasswordsSuite(framework: TestFramework, name: string, open: Open<'commonPasswords'>): void {
  const { describe, it, expect } = framework;
  describe(`a new password (${name})`, () => {
    let guessable: (text: string) => Promise<boolean>;
    openBefore(framework, open, ({ ports }) => {
      guessable = (text) => isGuessable(ports.commonPasswords, text, EMAIL);
    });

    it('is no common one, the address or the store’s name, in any case, with digits around it, or repeated', async () => {
      for (const text of GUESSABLE) expect({ text, is: await guessable(text) }).toEqual({ text, is: true });
    });

    it('may contain them among other words', async () => {
      for (const text of GOOD) expect({ text, is: await guessable(text) }).toEqual({ text, is: false });
    });
  });
}
