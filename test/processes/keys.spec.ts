import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ACCOUNTS,
  API,
  ask,
  createDatabase,
  KEYS,
  run,
  Running,
  temporaryFolder,
  type TestDatabase,
} from '@adoption-store/test-support';

let database: TestDatabase;
let service: Running;
let origin: string;

beforeAll(async () => {
  database = await createDatabase();
  service = new Running(API, [], { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1' });
  origin = (await service.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
});

afterAll(async () => {
  await service.stop();
  await database.drop();
});

const DAY = 24 * 60 * 60 * 1_000;
const keys = (...args: string[]) => run(KEYS, args, { DATABASE_URL: database.url });
const accounts = (...args: string[]) => run(ACCOUNTS, args, { DATABASE_URL: database.url });

/** The rows of the list, by column name. */
async function list(...args: string[]): Promise<Readonly<Record<string, string>>[]> {
  const { code, stdout } = await keys('list', ...args);
  expect(code).toBe(0);
  const [heads = [], ...rows] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  return rows.map((row) => Object.fromEntries(heads.map((head, column) => [head, row[column] ?? ''])));
}

async function create(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await keys('create', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^aas_live_[0-9A-Za-z]{38}\n$/);
  return stdout.trim();
}

async function answerTo(key: string): Promise<string> {
  const response = await fetch(`${origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status === 200) return 'ok';
  return ((await response.json()) as { code: string }).code;
}

/** Expects that the running service, which did not make the change, gives this answer within a second. */
async function becomes(key: string, answer: string): Promise<void> {
  const deadline = Date.now() + 1_000;
  // At most twenty requests, because the free plan allows only sixty a minute.
  while ((await answerTo(key)) !== answer && Date.now() < deadline) await delay(50);
  expect(await answerTo(key)).toBe(answer);
}

async function idOf(key: string): Promise<string> {
  const { stdout } = await keys('list');
  return new RegExp(`^(\\d+) .*…${key.slice(-4)}`, 'm').exec(stdout)?.[1] ?? '';
}

describe('keys create', () => {
  it('prints only a key, which the running service accepts at once', async () => {
    expect(await answerTo(await create('--email', 'dev@example.com', '--plan', 'free'))).toBe('ok');
  });

  it.each(['free', 'pro', 'business'])('opens an account on the plan %s', async (plan) => {
    await create('--email', `${plan}@example.com`, '--plan', plan, '--name', 'laptop');
    expect((await keys('list', '--email', `${plan}@example.com`)).stdout).toMatch(
      new RegExp(`${plan} \\(\\d+ a minute.*laptop$`, 'm'),
    );
  });

  it('opens an enterprise account with its own limits', async () => {
    await create('--email', 'big@example.com', '--plan', 'enterprise', '--per-minute', '5000', '--per-day', '1000000');
    expect((await keys('list', '--email', 'big@example.com')).stdout).toContain(
      'enterprise (5000 a minute, 1000000 a day)',
    );
  });

  it('adds a key to an existing account', async () => {
    const [one, other] = [await create('--email', 'two@example.com'), await create('--email', 'TWO@example.com')];
    expect(one).not.toBe(other);
    expect((await keys('list', '--email', 'two@example.com')).stdout.trim().split('\n')).toHaveLength(3);
  });

  it('does not change the plan of an existing account', async () => {
    await create('--email', 'stays@example.com', '--plan', 'free');
    const { code, stdout, stderr } = await keys('create', '--email', 'stays@example.com', '--plan', 'pro');
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('free (60 a minute, 1000 a day); `accounts plan` can change it');
  });

  it('creates a key that expires after the given number of days', async () => {
    const before = Date.now();
    await create('--email', 'month@example.com', '--expires-in', '30');
    await create('--email', 'decade@example.com', '--expires-in', '3650');
    for (const [email, days] of [['month@example.com', 30] as const, ['decade@example.com', 3_650] as const]) {
      const { CREATED = '', EXPIRES = '' } = (await list('--email', email))[0] ?? {};
      expect(Date.parse(EXPIRES) - Date.parse(CREATED)).toBeLessThan(days * DAY + 1_000);
      expect(Date.parse(EXPIRES)).toBeGreaterThanOrEqual(before + days * DAY);
      expect(Date.parse(EXPIRES)).toBeLessThanOrEqual(Date.now() + days * DAY);
    }
  });
});

describe('accounts plan', () => {
  it('puts an account on another plan, and back', async () => {
    const key = await create('--email', 'grows@example.com');
    const changed = await accounts('plan', 'GROWS@example.com', 'pro');
    expect(changed).toMatchObject({ code: 0, stderr: '' });
    expect(changed.stdout).toBe('the account of grows@example.com is on the plan pro (300 a minute, 10000 a day)\n');
    const own = ['enterprise', '--per-minute', '5000', '--per-day', '1000000'];
    expect(await accounts('plan', 'grows@example.com', ...own)).toMatchObject({ code: 0 });
    expect(await list('--email', 'grows@example.com')).toMatchObject([
      { PLAN: 'enterprise (5000 a minute, 1000000 a day)' },
    ]);
    expect(await accounts('plan', 'grows@example.com', 'free')).toMatchObject({ code: 0 });
    expect(await list('--email', 'grows@example.com')).toMatchObject([{ PLAN: 'free (60 a minute, 1000 a day)' }]);
    expect(await answerTo(key)).toBe('ok');
  });

  it('for an address without an account says so and exits with 1', async () => {
    const { code, stdout, stderr } = await accounts('plan', 'ghost@example.com', 'pro');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('no account has the address ghost@example.com\n');
    expect(await list('--email', 'ghost@example.com')).toEqual([]);
  });
});

describe('accounts list', () => {
  it('shows each account and its plan', async () => {
    await create('--email', 'listed@example.com', '--plan', 'pro');
    const { code, stdout } = await accounts('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ +listed@example\.com +pro \(300 a minute, 10000 a day\) +\d{4}-\S+Z$/m);
  });
});

describe('keys list', () => {
  it('shows whether each key works', async () => {
    const [active, rotated, over, revoked] = [
      await create('--email', 'states@example.com'),
      await create('--email', 'states@example.com'),
      await create('--email', 'states@example.com'),
      await create('--email', 'states@example.com'),
    ];
    await keys('rotate', await idOf(rotated));
    await keys('rotate', await idOf(over), '--overlap', '0');
    await keys('revoke', await idOf(revoked));
    const states = await list('--email', 'states@example.com');
    expect(states.map(({ STATE }) => STATE)).toEqual(['active', 'rotated', 'expired', 'revoked', 'active', 'active']);
    expect(states[0]).toMatchObject({ KEY: `…${active.slice(-4)}`, EXPIRES: 'never', 'LAST USED': 'never' });
    expect(states[1]?.['EXPIRES']).toMatch(/^\d{4}-/);
    expect(await answerTo(rotated)).toBe('ok');
  });

  it('shows within seconds the minute in which a key was last used', async () => {
    const key = await create('--email', 'used@example.com');
    const before = Date.now();
    expect(await answerTo(key)).toBe('ok');
    const lastUse = async () => (await list('--email', 'used@example.com'))[0]?.['LAST USED'] ?? '';
    const deadline = before + 15_000;
    while ((await lastUse()) === 'never' && Date.now() < deadline);
    expect(await lastUse()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
    expect(Date.parse(await lastUse())).toBeGreaterThan(before - 60_000);
    expect(Date.parse(await lastUse())).toBeLessThanOrEqual(Date.now());
  });
});

describe('keys revoke and rotate', () => {
  it('a revoked key is refused within a second by a service that has just accepted it', async () => {
    const key = await create('--email', 'revoked@example.com');
    expect(await answerTo(key)).toBe('ok');
    expect(await keys('revoke', await idOf(key))).toMatchObject({ code: 0 });
    await becomes(key, 'revoked_api_key');
  });

  it('a rotated key and its replacement both work', async () => {
    const key = await create('--email', 'rotated@example.com');
    const { code, stdout } = await keys('rotate', await idOf(key));
    expect(code).toBe(0);
    expect(await answerTo(stdout.trim())).toBe('ok');
    expect(await answerTo(key)).toBe('ok');
  });

  it('a key rotated without overlap is refused at once', async () => {
    const key = await create('--email', 'at-once@example.com');
    expect(await answerTo(key)).toBe('ok');
    const { stdout } = await keys('rotate', await idOf(key), '--overlap', '0');
    expect(await answerTo(stdout.trim())).toBe('ok');
    await becomes(key, 'expired_api_key');
  });

  it.each(['revoke', 'rotate'])('%s of an unknown key says so and exits with 1', async (command) => {
    const { code, stdout, stderr } = await keys(command, '999999');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('999999');
  });
});

/** Runs a command in a shell, which can redirect its output. */
function inShell(command: string, url = database.url) {
  const env = { PATH: process.env['PATH'], KEYS, ACCOUNTS, NODE: process.execPath, DATABASE_URL: url };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

describe('a key that can’t be shown', () => {
  it.each([
    ['on a full disk', '>/dev/full', 'ENOSPC'],
    ['as the output is closed', '>&-', 'the output is closed'],
    ['as nothing reads the output', '>/dev/null', 'the output is closed'],
  ])('%s is revoked again, and the command says so', async (what, redirection, reason) => {
    const email = `${what.replaceAll(' ', '-')}@example.com`;
    const { code, stdout, stderr } = inShell(`"$NODE" "$KEYS" create --email ${email} ${redirection}`);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    const [key, ...more] = await list('--email', email);
    expect([key?.['STATE'], more]).toEqual(['revoked', []]);
    expect(stderr).toBe(`key ${key?.['ID']} (${key?.['KEY']}) could not be shown (${reason}), so it was revoked\n`);
  });

  it('because its reader has gone is revoked, and the command says so', async () => {
    const { stderr } = inShell('{ "$NODE" "$KEYS" create --email gone@example.com; echo "code $?" >&2; } | true');
    expect(stderr).toMatch(/^key \d+ \(….{4}\) could not be shown \(EPIPE\), so it was revoked\ncode 1\n$/);
    expect((await list('--email', 'gone@example.com')).map(({ STATE }) => STATE)).toEqual(['revoked']);
  });

  it.each(['>/dev/full', '>&-'])('in place of another (%s) leaves that one unchanged', async (redirection) => {
    const email = redirection === '>&-' ? 'unseen@example.com' : 'full@example.com';
    const old = await create('--email', email, '--expires-in', '30');
    const [before] = await list('--email', email);
    const { code, stderr } = inShell(`"$NODE" "$KEYS" rotate ${await idOf(old)} --overlap 0 ${redirection}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^key \d+ .* so it was revoked; key \d+ \(….{4}\) is unchanged\n$/);
    expect(await list('--email', email)).toEqual([before, expect.objectContaining({ STATE: 'revoked' })]);
    expect(await answerTo(old)).toBe('ok');
    expect(await keys('rotate', await idOf(old))).toMatchObject({ code: 0 });
  });
});

describe('a key that can’t be made', () => {
  it.each([
    ['--name', ''],
    ['--name', ' '],
    ['--name', 'x'.repeat(101)],
    ['--expires-in', '0'],
  ])('(%s %j) opens no account', async (...args) => {
    expect(await keys('create', '--email', 'unopened@example.com', ...args)).toMatchObject({ code: 64, stdout: '' });
    expect((await accounts('list')).stdout).not.toContain('unopened@example.com');
  });
});

describe('an account whose address is unproven', () => {
  const email = 'stranger@example.com';
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1' };
  const withMail = (program: string, ...args: string[]) => run(program, args, { DATABASE_URL: database.url, ...mail });
  beforeAll(async () => {
    await ask(
      database.url,
      `INSERT INTO accounts (email, plan, created_at, password_hash, credential_version)
       VALUES ('${email}', 'free', now(), 'hash', 1)`,
    );
  });

  it.each([
    ['accounts plan', ACCOUNTS, ['plan', email, 'pro']],
    ['keys create', KEYS, ['create', '--email', email]],
  ])('is refused by %s where there is SMTP, unless --unproven is given', async (_what, program, args) => {
    const refused = await withMail(program, ...args);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^the address of the account of stranger@example\.com is unproven: .*--unproven/);
    expect(await list('--email', email)).toEqual([]);
    expect(await withMail(program, ...args, '--unproven')).toMatchObject({ code: 0, stderr: '' });
    await accounts('plan', email, 'free');
    for (const { ID = '' } of await list('--email', email))
      await ask(database.url, `DELETE FROM api_keys WHERE id = ${ID}`);
  });

  it('is shown as unproven in every list with SMTP', async () => {
    await withMail(KEYS, 'create', '--email', email, '--unproven');
    expect((await withMail(ACCOUNTS, 'list')).stdout).toMatch(/^\d+ +stranger@example\.com \(unproven\) +free/m);
    expect((await withMail(KEYS, 'list', '--email', email)).stdout).toMatch(
      /^\d+ +stranger@example\.com \(unproven\) +free/m,
    );
    expect((await withMail(ACCOUNTS, 'plan', email, 'pro', '--unproven')).stdout).toContain(`${email} (unproven)`);
  });

  it('is shown like any other without SMTP', async () => {
    await create('--email', email);
    expect(await accounts('plan', email, 'free')).toMatchObject({ code: 0 });
    expect((await accounts('list')).stdout).not.toContain('unproven');
    expect((await keys('list')).stdout).not.toContain('unproven');
  });

  it('is never one that the operator opened', async () => {
    expect(await withMail(KEYS, 'create', '--email', 'customer@example.com')).toMatchObject({ code: 0 });
    expect(await withMail(KEYS, 'create', '--email', 'customer@example.com')).toMatchObject({ code: 0 });
    expect(await withMail(ACCOUNTS, 'plan', 'customer@example.com', 'pro')).toMatchObject({ code: 0 });
    expect((await withMail(ACCOUNTS, 'list')).stdout).toMatch(/customer@example\.com +pro/);
  });
});

describe('a long list', () => {
  const ROWS = 100_000;
  let long: TestDatabase;
  beforeAll(async () => {
    long = await createDatabase();
    expect(await run(KEYS, ['create', '--email', 'many@example.com'], { DATABASE_URL: long.url })).toMatchObject({
      code: 0,
    });
    await ask(
      long.url,
      `INSERT INTO accounts (email, plan, created_at)
       SELECT 'account-' || number || '@example.com', 'free', now() FROM generate_series(1, ${ROWS}) AS number`,
    );
    await ask(
      long.url,
      `INSERT INTO api_keys (account_id, hash, ending, created_at, revoked_at)
       SELECT (SELECT id FROM accounts WHERE email = 'many@example.com'), md5(number::text) || md5('' || -number), 'abcd',
         now(), now() FROM generate_series(1, ${ROWS}) AS number`,
    );
  });
  afterAll(() => long.drop());

  it.each([
    ['keys', KEYS, ['list']],
    ['keys of one account', KEYS, ['list', '--email', 'many@example.com']],
    ['accounts', ACCOUNTS, ['list']],
  ])('of %s is printed whole, in bounded memory', async (_what, program, args) => {
    const environment = { DATABASE_URL: long.url, NODE_OPTIONS: '--max-old-space-size=64' };
    const { code, stdout, stderr } = await run(program, args, environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const ids = stdout.trimEnd().split('\n').slice(1).map(Number.parseFloat);
    expect(ids).toHaveLength(ROWS + 1);
    expect(new Set(ids).size).toBe(ROWS + 1);
  });

  it.each(['"$KEYS" list', '"$ACCOUNTS" list'])('(%s) ends quietly if its reader has gone', (program) => {
    const { stdout, stderr } = inShell(`{ "$NODE" ${program}; echo "code $?" >&2; } | head -1`, long.url);
    expect(stdout).toMatch(/^ID .*\n$/);
    expect(stderr).toBe('code 0\n');
  });

  it.each(['"$KEYS" list', '"$ACCOUNTS" list', '"$ACCOUNTS" plan many@example.com free'])(
    '(%s) or a short result on a full disk says so',
    (program) => {
      expect(inShell(`"$NODE" ${program} >/dev/full`, long.url)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'the output could not be written (ENOSPC)\n',
      });
    },
  );
});

describe('keys with bad arguments prints its usage on standard error and exits with 64', () => {
  it.each([
    [[]],
    [['destroy']],
    [['create']],
    [['create', '--email', 'nobody']],
    [['create', '--email', 'dev@example.com', '--plan', 'gold']],
    [['create', '--email', 'dev@example.com', '--plan', 'enterprise']],
    [['create', '--email', 'dev@example.com', '--plan', 'pro', '--per-minute', '5', '--per-day', '5']],
    [['create', '--email', 'dev@example.com', '--per-minute', '5']],
    [['create', '--email', 'dev@example.com', '--plan', 'enterprise', '--per-minute', 'x', '--per-day', '5']],
    [['create', '--email', 'dev@example.com', '--name', '']],
    [['create', '--email', 'dev@example.com', '--frobnicate']],
    [['create', 'dev@example.com']],
    [['create', '--email', 'dev@example.com', '--expires-in', '0']],
    [['create', '--email', 'dev@example.com', '--expires-in', '3651']],
    [['create', '--email', 'dev@example.com', '--expires-in', '1.5']],
    [['list', 'everything']],
    [['revoke']],
    [['revoke', 'abc']],
    [['revoke', '1', '2']],
    [['rotate', '1', '--overlap', 'soon']],
    [['rotate', '1', '--overlap', '721']],
  ])('%j', async (args) => {
    const { code, stdout, stderr } = await keys(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('Usage:');
  });
});

describe('accounts with bad arguments prints its usage on standard error and exits with 64', () => {
  it.each([
    [[]],
    [['destroy']],
    [['toString']],
    [['list', 'everything']],
    [['plan']],
    [['plan', 'dev@example.com']],
    [['plan', 'nobody', 'pro']],
    [['plan', 'dev@example.com', 'gold']],
    [['plan', 'dev@example.com', 'enterprise', '--per-minute', '5']],
    [['plan', 'dev@example.com', 'pro', '--per-minute', '5', '--per-day', '5']],
  ])('%j', async (args) => {
    const { code, stdout, stderr } = await accounts(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('Usage:');
  });
});

it('works on a data folder while no service runs', async () => {
  const folder = await temporaryFolder();
  const { code, stdout } = await run(KEYS, ['create', '--email', 'dev@example.com'], { DATA_DIR: folder.path });
  expect(code).toBe(0);
  const list = await run(KEYS, ['list'], { DATA_DIR: folder.path });
  expect(list.stdout).toContain(`…${stdout.trim().slice(-4)}`);
  await folder.remove();
});
