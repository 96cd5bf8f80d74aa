import type { Password } from '../../accounts/sign-in/password.js';
import type { PasswordHasher } from '../../accounts/sign-in/password-hasher.js';
import { openBefore } from './fixtures.js';
import type { OpenedHasher, TestFramework } from './framework.js';

const PASSWORD = 'a horse, a battery 🐈' as Password;

/** The guarantees of every `PasswordHasher`. */
export function passwordHasherSuite(framework: TestFramework, name: string, open: () => Promise<OpenedHasher>): void {
  const { describe, it, expect } = framework;
  describe(`a password hasher (${name})`, () => {
    let opened: OpenedHasher;
    let hasher: PasswordHasher;
    openBefore(framework, open, (adapters) => {
      opened = adapters;
      hasher = adapters.ports.passwordHasher;
    });

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

    it('knows a password by a hash with other parameters, which is outdated', async () => {
      const hash = await opened.outdatedHashOf(PASSWORD);
      expect(hasher.isOutdated(hash)).toBe(true);
      expect(await hasher.verify(PASSWORD, hash)).toBe(true);
      expect(await hasher.verify(`${PASSWORD} ` as Password, hash)).toBe(false);
    });
  });
}
