import { domainToASCII } from 'node:url';
import type { Password } from '@adoption-store/domain';
import {
  accountRepositorySuite,
  attemptCounterSuite,
  commonPasswordsSuite,
  credentialRepositorySuite,
  deploymentSuite,
  domainToAsciiSuite,
  passwordHasherSuite,
  sessionRepositorySuite,
} from '@adoption-store/domain/testing';
import { ask, expectDatabaseErrors } from '@adoption-store/test-support';
import { describe, expect, it } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { Argon2PasswordHasher } from '../src/accounts/argon2-password-hasher.js';
import { ZxcvbnCommonPasswords } from '../src/accounts/zxcvbn-common-passwords.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

// An address that exists already.
expectDatabaseErrors('23505');

accountRepositorySuite(framework, 'PostgreSQL', openPostgres);

credentialRepositorySuite(framework, 'PostgreSQL', openPostgres);

deploymentSuite(framework, 'PostgreSQL', openPostgres);

sessionRepositorySuite(framework, 'PostgreSQL', openPostgres);

attemptCounterSuite(framework, 'PostgreSQL', openPostgres);

domainToAsciiSuite(framework, 'Node.js', domainToASCII);

it('decides on attempts by the clock of the database, which all processes share', async () => {
  const { ports, url, close } = await openPostgres();
  const now = async () => Number((await ask<{ now: Date }>(url, 'SELECT now()'))[0]?.now);
  const before = await now();
  const { until: shared } = await ports.attempts.count('0'.repeat(64), ({ sharedNow }) => ({ until: sharedNow }));
  expect(shared).toBeGreaterThanOrEqual(before);
  expect(shared).toBeLessThanOrEqual(await now());
  await close();
});

passwordHasherSuite(framework, 'argon2', () =>
  Promise.resolve({
    ports: { passwordHasher: new Argon2PasswordHasher() },
    outdatedHashOf: (password) => hash(password, { memoryCost: 4_096, timeCost: 1, parallelism: 1 }),
    close: () => Promise.resolve(),
  }),
);

commonPasswordsSuite(framework, 'zxcvbn', () =>
  Promise.resolve({ ports: { commonPasswords: new ZxcvbnCommonPasswords() }, close: () => Promise.resolve() }),
);

const PASSWORD = 'a horse, a battery 🐈' as Password;

describe('argon2', () => {
  const hasher = new Argon2PasswordHasher();

  it('hashes as OWASP has it: argon2id, 19 MiB, two passes', async () => {
    expect(await hasher.hash(PASSWORD)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
  });

  it('takes as long where there is no hash', async () => {
    const hash = await hasher.hash(PASSWORD);
    const times = { there: Infinity, missing: Infinity };
    const ratio = () => times.missing / times.there;
    // Other work on the machine only adds time, so the shortest of many rounds is compared.
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
