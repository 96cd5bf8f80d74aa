import { domainToASCII } from 'node:url';
import { type Application, createApplication, type Password } from '@adoption-store/domain';
import {
  accountRepositorySuite,
  attemptCounterSuite,
  commonPasswordsSuite,
  credentialRepositorySuite,
  deploymentSuite,
  domainToAsciiSuite,
  passwordHasherSuite,
  sessionRepositorySuite,
  testPolicy,
} from '@adoption-store/domain/testing';
import { ask, createDatabase, expectDatabaseErrors, type TestDatabase } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { Argon2PasswordHasher } from '../src/accounts/argon2-password-hasher.js';
import { ZxcvbnCommonPasswords } from '../src/accounts/zxcvbn-common-passwords.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
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

describe('twins of the time before names and addresses were compared in NFC', () => {
  const NFC = 'caf\u00e9';
  const NFD = 'cafe\u0301';
  const other = (text: string) => text.replace('c', 'C');
  let url: string;
  let store: Awaited<ReturnType<typeof openInfrastructure>>;
  let application: Application;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
    url = database.url;
    await ask(
      url,
      `DROP INDEX accounts_by_nfc, categories_by_nfc; DELETE FROM migrations WHERE name LIKE 'CompareInNfc%';
       INSERT INTO accounts (email, plan, created_at) SELECT each || '@example.com', 'free', now() FROM unnest('{${NFD},${NFC}}'::text[]) AS each;
       INSERT INTO categories (id, name, name_key) VALUES (-1, '${NFD}', '${NFD}'), (-2, '${NFC}', '${NFC}')`,
    );
    // Only the owner can migrate.
    store = await openInfrastructure({ policy: testPolicy(), databaseUrl: database.ownerUrl, poolSize: 2 });
    application = createApplication(store.ports, testPolicy());
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it('can be named as they are, in another case too, and get no more of their kind', async () => {
    const { nameCategory, addCategory } = application;
    for (const [id, name] of [
      [-1n, NFD],
      [-2n, NFC],
      [-1n, other(NFD)],
      [-2n, other(NFC)],
    ] as const)
      expect(await nameCategory.execute({ id, name })).toMatchObject({ category: { id, name } });
    for (const name of [NFC, NFD]) {
      await expect(addCategory.execute({ name })).rejects.toMatchObject({ code: 'category_name_taken' });
      await expect(nameCategory.execute({ id: -3n, name })).rejects.toMatchObject({ code: 'category_name_taken' });
    }
  });

  it('have no new ones, whoever writes them: a process of the version before is refused by the index', async () => {
    const account = `INSERT INTO accounts (email, plan, created_at) VALUES ($1, 'free', now())`;
    await ask(url, account, ['zoe\u0308@example.com']);
    await expect(ask(url, account, ['zo\u00eb@example.com'])).rejects.toMatchObject({ code: '23505' });
    const category = 'INSERT INTO categories (id, name, name_key) VALUES ($1, $2, $2)';
    await ask(url, category, [-4, 'zo\u00eb']);
    await expect(ask(url, category, [-5, 'zoe\u0308'])).rejects.toMatchObject({ code: '23505' });
  });
});

describe('accounts from before addresses had one form', () => {
  const TWINS = ['<dev@b.example>', 'dev@b\u3002example', 'dev@b.example'] as const;
  const ALONE = 'zo\u00eb@b\u00fccher.example';
  let database: TestDatabase;
  let store: Awaited<ReturnType<typeof openInfrastructure>>;
  let application: Application;
  /** As the version before adds them. */
  const add = (emails: readonly string[]) =>
    ask(
      database.url,
      `INSERT INTO accounts (email, plan, created_at) SELECT each, 'free', now() FROM unnest('{${emails.join()}}'::text[]) AS each`,
    );
  const restart = async () => {
    await store.close();
    store = await openInfrastructure({ policy: testPolicy(), databaseUrl: database.url, poolSize: 2 });
    application = createApplication(store.ports, testPolicy(), { opensUnproven: true });
  };
  const found = async (email: string) => (await store.ports.accounts.findByEmail(email.toLowerCase()))?.email;

  beforeAll(async () => {
    database = await createDatabase();
    await ask(
      database.ownerUrl,
      `DROP TRIGGER accounts_forget_canonical_email ON accounts; ALTER TABLE accounts DROP COLUMN canonical_email;
       DELETE FROM migrations WHERE name LIKE 'FindAddresses%'`,
    );
    await add([...TWINS, ALONE]);
    // Only the owner can migrate.
    store = await openInfrastructure({ policy: testPolicy(), databaseUrl: database.ownerUrl, poolSize: 2 });
    await restart();
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it('are found in the one form, which the first start of this version stores', async () => {
    for (const email of TWINS) expect(await found(email)).toBe(email);
    for (const other of ['ZOE\u0308@B\u00dcCHER.example', 'zo\u00eb@XN--BCHER-KVA.example'])
      expect(await found(other)).toBe(ALONE);
    const signUp = { email: 'zo\u00eb@xn--bcher-kva.example', password: 'a horse, a battery' };
    await expect(application.signUp.execute(signUp)).rejects.toMatchObject({ code: 'email_taken' });
  });

  it('share the bound of five mails with their twins', async () => {
    await application.recordPortal.execute('https://portal.example.com');
    for (let times = 0; times < 3; times += 1)
      for (const email of TWINS) await application.requestPasswordReset.execute({ email });
    expect(await store.ports.accountMails.backlog()).toMatchObject({ queued: 5 });
  });

  it('that the version before adds later are found by their spelling, and in the one form after the next start', async () => {
    await add(['eve@b\u00fccher.example', 'DEV@b.example.'.toLowerCase()]);
    const other = 'EVE@xn--bcher-kva.example';
    expect(await found('Eve@b\u00fccher.example')).toBe('eve@b\u00fccher.example');
    expect(await found(other)).toBeUndefined();
    await restart();
    expect(await found(other)).toBe('eve@b\u00fccher.example');
    expect(await found('dev@b.example.')).toBe('dev@b.example.');
  });

  it('free their address if the version before closes them or changes it: a twin has it from the next start on', async () => {
    await ask(database.url, `UPDATE accounts SET email = 'new@b.example' WHERE email = 'dev@b.example'`);
    expect(await found('new@b.example')).toBe('new@b.example');
    await restart();
    expect(await found('dev@b.example')).toBe(TWINS[0]);
    await ask(
      database.url,
      `UPDATE accounts SET email = 'closed-4@invalid', closed_at = now() WHERE email = '${ALONE}'`,
    );
    expect(await application.openAccount.execute({ email: ALONE })).toMatchObject({
      email: 'zo\u00eb@xn--bcher-kva.example',
    });
  });
});
