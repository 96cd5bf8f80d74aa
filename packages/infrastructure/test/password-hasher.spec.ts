import { describe, expect, it } from '@jest/globals';
import type { Password } from '@adoption-store/domain';
import { passwordHasherSuite } from '@adoption-store/domain/testing';
import { Argon2PasswordHasher } from '../src/accounts/argon2-password-hasher.js';
import { framework } from './framework.js';

passwordHasherSuite(framework, 'argon2', () =>
  Promise.resolve({ ports: { passwordHasher: new Argon2PasswordHasher() }, close: () => Promise.resolve() }),
);

const PASSWORD = 'a horse, a battery 🐈' as Password;

describe('argon2', () => {
  const hasher = new Argon2PasswordHasher();

  it('hashes as OWASP has it: argon2id, 19 MiB, two passes', async () => {
    expect(await hasher.hash(PASSWORD)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
  });

  it.each([
    ['$argon2id$v=19$m=19456,t=1,p=1$c2FsdHNhbHQ$aGFzaA'],
    ['$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA'],
    ['$argon2id$v=19$m=4096,t=2,p=1$c2FsdHNhbHQ$aGFzaA'],
  ])('takes %s for outdated', (hash) => {
    expect(hasher.isOutdated(hash)).toBe(true);
  });

  it('takes as long where there is no hash', async () => {
    const hash = await hasher.hash(PASSWORD);
    const times = { there: Infinity, missing: Infinity };
    const ratio = () => times.missing / times.there;
    // Other work on the machine only adds time, so the shortest of many rounds counts.
    for (let round = 0; round < 80 && (round < 8 || ratio() < 0.5 || ratio() > 2); round += 1) {
      for (const [name, against] of [['there', hash] as const, ['missing', undefined] as const]) {
        const start = performance.now();
        await hasher.verify('another one, quite' as Password, against);
        times[name] = Math.min(times[name], performance.now() - start);
      }
    }
    expect(ratio()).toBeGreaterThan(0.5);
    expect(ratio()).toBeLessThan(2);
  });
});
