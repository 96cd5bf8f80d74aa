import { domainToASCII } from 'node:url';
import {
  type Account,
  type AccountId,
  type AccountKey,
  type ApiKeyId,
  type Application,
  createApplication,
  DomainError,
  HOUR,
  type Instant,
  instant,
  type Password,
  PLANS,
} from '@adoption-store/domain';
import {
  accountMailPages,
  accountRepositorySuite,
  apiKeyRepositorySuite,
  attemptCounterSuite,
  credentialRepositorySuite,
  domainToAsciiSuite,
  passwordHasherSuite,
  sessionRepositorySuite,
} from '@adoption-store/domain/testing';
import {
  ask,
  createDatabase,
  DatabaseGate,
  expectDatabaseErrors,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Argon2PasswordHasher } from '../src/accounts/argon2-password-hasher.js';
import { KeyCache } from '../src/accounts/key-cache.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

// A key or an address that exists already.
expectDatabaseErrors('23505');

accountRepositorySuite(framework, 'PostgreSQL', openPostgres);

apiKeyRepositorySuite(framework, 'PostgreSQL', openPostgres);

credentialRepositorySuite(framework, 'PostgreSQL', openPostgres);

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
  Promise.resolve({ ports: { passwordHasher: new Argon2PasswordHasher() }, close: () => Promise.resolve() }),
);

const PASSWORD = 'a horse, a battery 🐈' as Password;

describe('argon2', () => {
  const hasher = new Argon2PasswordHasher();

  it('hashes as OWASP has it: argon2id, 19 MiB, two passes', async () => {
    expect(await hasher.hash(PASSWORD)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
  });

  it.each(['argon2id$v=19$m=19456,t=1,p=1', 'argon2i$v=19$m=19456,t=2,p=1', 'argon2id$v=19$m=4096,t=2,p=1'])(
    'takes $%s for outdated',
    (kind) => {
      expect(hasher.isOutdated(`$${kind}$c2FsdHNhbHQ$aGFzaA`)).toBe(true);
    },
  );

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

describe('the cache of keys', () => {
  const NOW = instant(Date.UTC(2026, 0, 1));
  const hashOf = (number: number) => number.toString(16).padStart(64, '0');
  const hashes = (count: number) => Array.from({ length: count }, (_, index) => hashOf(index));

  let time: number;
  /** Milliseconds that each read takes. */
  let takes: number;
  let isAway: boolean;
  /** The number of hashes of each query. */
  let queries: number[];
  let stored: Map<string, AccountKey>;
  let cache: KeyCache;

  beforeEach(() => {
    // No time passes for the time limit of the database, however slow the machine is.
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    [time, takes, isAway, queries, stored] = [5_000, 0, false, [], new Map<string, AccountKey>()];
    cache = new KeyCache(findAll, { now: () => time });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  async function findAll(asked: readonly string[]): Promise<readonly (AccountKey | undefined)[]> {
    queries.push(asked.length);
    // The answer is the state at the arrival of the query, however late it is returned.
    const found = asked.map((hash) => stored.get(hash));
    await new Promise(setImmediate);
    time += takes;
    if (isAway) throw new DomainError('service_unavailable', 'away');
    return found;
  }

  const account: Account = {
    id: 1n as AccountId,
    email: 'dev@example.com',
    plan: PLANS.free,
    scopes: undefined,
    credentialVersion: 0,
    createdAt: NOW,
    provenAt: undefined,
  };

  function add(hash: string, revokedAt?: Instant): AccountKey {
    const key: AccountKey['key'] = {
      accountId: account.id,
      id: BigInt(`0x${hash}`) as ApiKeyId,
      hash,
      ending: 'wxyz',
      name: undefined,
      scopes: undefined,
      createdAt: NOW,
      expiresAt: undefined,
      revokedAt,
      disabledAt: undefined,
      replacedBy: undefined,
      lastUsedAt: undefined,
    };
    stored.set(hash, { account, key });
    return { account, key };
  }

  /** How many queries the look-up needs. */
  async function queriesOf(hash: string): Promise<number> {
    const before = queries.length;
    await cache.find(hash);
    return queries.length - before;
  }

  describe('an entry', () => {
    it('is at most a second old, however much it is used', async () => {
      const { hash } = add(hashOf(1)).key;
      await cache.find(hash);
      add(hash, NOW);
      for (let tenth = 0; tenth < 10; tenth += 1) {
        time += 100;
        expect(await queriesOf(hash)).toBe(0);
      }
      time += 0.1;
      expect(await cache.find(hash)).toMatchObject({ key: { revokedAt: NOW } });
    });

    it('is as old as the start of its read', async () => {
      const { hash } = add(hashOf(1)).key;
      takes = 900;
      await cache.find(hash);
      time += 99;
      expect(await queriesOf(hash)).toBe(0);
      time += 2;
      expect(await queriesOf(hash)).toBe(1);
    });

    it('is neither made nor answered by a read that took a second, for known and unknown keys', async () => {
      const { hash } = add(hashOf(1)).key;
      takes = 1_000;
      for (const asked of [hash, hash, hashOf(2)]) {
        await expect(cache.find(asked)).rejects.toMatchObject({ code: 'service_unavailable' });
      }
      expect(queries).toHaveLength(3);
      takes = 0;
      expect(await cache.find(hash)).toBeDefined();
    });

    it('is used while the database is away, for its second, and no longer', async () => {
      const { hash } = add(hashOf(1)).key;
      await cache.find(hash);
      isAway = true;
      time += 1_000;
      expect(await cache.find(hash)).toBeDefined();
      time += 1;
      for (let again = 0; again < 2; again += 1) {
        await expect(cache.find(hash)).rejects.toMatchObject({ code: 'service_unavailable' });
      }
      isAway = false;
      expect(await cache.find(hash)).toBeDefined();
    });

    it('is one of 10,000, and the least recently used goes first', async () => {
      const all = hashes(10_001);
      for (const hash of all) add(hash);
      const [first = '', second = '', ...others] = all;
      for (const hash of [first, second]) await cache.find(hash);
      await cache.find(first);
      await Promise.all(others.map(async (hash) => cache.find(hash)));
      expect(await queriesOf(first)).toBe(0);
      expect(await queriesOf(second)).toBe(1);
    });
  });

  describe('look-ups', () => {
    it('that arrive together share a query, one at a time, of at most 1,000 hashes', async () => {
      const all = hashes(2_500);
      for (const hash of all.slice(0, 1_250)) add(hash);
      const asked = all.flatMap((hash) => [hash, hash]);
      const found = await Promise.all(asked.map(async (hash) => cache.find(hash)));
      expect(found.map((each) => each?.key.hash)).toEqual(
        asked.map((hash) => (Number(`0x${hash}`) < 1_250 ? hash : undefined)),
      );
      // The first arrived alone.
      expect(queries).toEqual([1, 1_000, 1_000, 499]);
    });

    it('of an unknown key are not kept: a new key works at once', async () => {
      for (let again = 0; again < 2; again += 1) {
        expect(await queriesOf(hashOf(1))).toBe(1);
      }
      add(hashOf(1));
      expect(await cache.find(hashOf(1))).toBeDefined();
    });
  });
});

describe('keys on several instances', () => {
  const email = 'dev@example.com';
  let database: TestDatabase;
  let closers: (() => unknown)[];
  beforeEach(async () => {
    database = await createDatabase();
    closers = [() => database.drop()];
  });
  afterEach(async () => {
    for (const close of closers.reverse()) await close();
  });

  /** @param skew milliseconds by which the instance's clock is ahead. */
  async function openInstance(databaseUrl = database.url, skew = 0): Promise<Application> {
    const { ports, close } = await openInfrastructure({ databaseUrl, poolSize: 10 });
    closers.push(close);
    return createApplication({ ...ports, clock: { now: () => instant(Date.now() + skew) } });
  }

  async function issue({ openAccount, issueKey }: Application) {
    const { id: accountId } = await openAccount.execute({ email });
    return issueKey.execute({ accountId });
  }

  /** The plan, or the code of the error. */
  const outcomeOf = async ({ authenticate }: Application, text: string): Promise<string> => {
    try {
      return (await authenticate.execute(text)).account.plan.name;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  const becomes = (outcome: string, instance: Application, text: string) =>
    until(async () => (await outcomeOf(instance, text)) === outcome);

  it.each([
    ['an hour behind', -HOUR],
    ['an hour ahead', HOUR],
  ])('are refused by one whose clock is %s, too, once they were rotated without an overlap', async (_how, skew) => {
    const [one, other] = await Promise.all([openInstance(), openInstance(database.url, skew)]);
    const { key, text } = await issue(one);
    expect(await outcomeOf(other, text)).toBe('free');
    const { text: next } = await one.rotateKey.execute({ id: key.id, overlap: 0 });
    expect(await outcomeOf(other, next)).toBe('free');
    await becomes('expired_api_key', other, text);
  });

  it('are refused as unavailable during a cut, and one revoked meanwhile is refused from the first answer on', async () => {
    const gate = await DatabaseGate.open(database.url);
    closers.push(() => {
      gate.shut();
    });
    const instance = await openInstance(gate.url);
    const { key, text } = await issue(instance);
    expect(await outcomeOf(instance, text)).toBe('free');
    gate.shut();
    await becomes('service_unavailable', instance, text);
    await ask(database.url, `UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`);
    await gate.reopen();
    const outcomes = new Set<string>();
    await until(async () => outcomes.add(await outcomeOf(instance, text)).has('revoked_api_key'));
    expect(outcomes).not.toContain('free');
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
    store = await openInfrastructure({ databaseUrl: database.ownerUrl, poolSize: 2 });
    application = createApplication(store.ports);
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it('stay: the exact spelling is looked up first', async () => {
    const { changePlan, openAccount, listAccounts } = application;
    for (const [name, plan] of [
      [NFC, 'pro'],
      [NFD, 'business'],
    ] as const) {
      const email = `${name}@example.com`;
      expect(await changePlan.execute({ email, plan: PLANS[plan] })).toMatchObject({ email });
      expect(await openAccount.execute({ email: other(email) })).toMatchObject({ email, plan: { name: plan } });
    }
    expect(await listAccounts.execute()).toHaveLength(2);
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
    const third = (text: string) => ask(url, text).catch((error: unknown) => (error as { code?: string }).code);
    await ask(url, `INSERT INTO accounts (email, plan, created_at) VALUES ('zoe\u0308@example.com', 'free', now())`);
    expect(
      await third(`INSERT INTO accounts (email, plan, created_at) VALUES ('zo\u00eb@example.com', 'free', now())`),
    ).toBe('23505');
    await ask(url, `INSERT INTO categories (id, name, name_key) VALUES (-4, 'zo\u00eb', 'zo\u00eb')`);
    expect(await third(`INSERT INTO categories (id, name, name_key) VALUES (-5, 'zoe\u0308', 'zoe\u0308')`)).toBe(
      '23505',
    );
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
    store = await openInfrastructure({ databaseUrl: database.url, poolSize: 2 });
    application = createApplication(store.ports, { accountMailPages });
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
    store = await openInfrastructure({ databaseUrl: database.ownerUrl, poolSize: 2 });
    await restart();
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it('are found by their spelling first, then in the one form', async () => {
    for (const email of [...TWINS, ALONE]) expect(await found(email)).toBe(email);
    for (const other of ['DEV@B.example.', 'dev@\uff42.example']) expect(await found(other)).toBe('dev@b.example');
    for (const other of ['ZOE\u0308@B\u00dcCHER.example', 'zo\u00eb@XN--BCHER-KVA.example'])
      expect(await found(other)).toBe(ALONE);
    const signUp = { email: 'zo\u00eb@xn--bcher-kva.example', password: 'a horse, a battery' };
    await expect(application.signUp.execute(signUp)).rejects.toMatchObject({ code: 'email_taken' });
  });

  it('share the bound of five mails with their twins', async () => {
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
