import { describe, expect, it } from '@jest/globals';
import type { Password, PasswordHasher } from '@adoption-store/domain';
import { PredictablePasswordHasher } from '@adoption-store/domain/testing';
import { Argon2PasswordHasher } from '@adoption-store/infrastructure/testing';

const PASSWORD = 'a horse, a battery 🐈' as Password;

describe.each<[string, () => PasswordHasher]>([
  ['in memory', () => new PredictablePasswordHasher()],
  ['argon2', () => new Argon2PasswordHasher()],
])('a password hasher (%s)', (_name, open) => {
  const hasher = open();

  it('knows a password by its hash, and takes no other for it', async () => {
    const hash = await hasher.hash(PASSWORD);
    expect(await hasher.verify(PASSWORD, hash)).toBe(true);
    for (const other of ['', `${PASSWORD} `, PASSWORD.toUpperCase(), hash]) {
      expect(await hasher.verify(other as Password, hash)).toBe(false);
    }
  });

  it('says no where there is no hash', async () => {
    for (const password of [PASSWORD, '' as Password]) expect(await hasher.verify(password, undefined)).toBe(false);
  });

  it('makes another hash each time, and none that is outdated', async () => {
    const hashes = [await hasher.hash(PASSWORD), await hasher.hash(PASSWORD)];
    expect(new Set(hashes).size).toBe(2);
    expect(hashes.map((hash) => hasher.isOutdated(hash))).toEqual([false, false]);
  });
});

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
