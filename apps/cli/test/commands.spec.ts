import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountId, type Application, createApplication, DomainError } from '@adoption-store/domain';
import { byOperator, testPolicy } from '@adoption-store/domain/testing';
import { type Infrastructure, openInfrastructure } from '@adoption-store/infrastructure';
import { ask, createDatabase, temporaryFolder, type TestDatabase, until } from '@adoption-store/test-support';
import { accountCommands } from '../src/accounts/account-commands.js';
import type { Program } from '../src/command-line.js';
import { keyCommands } from '../src/accounts/key-commands.js';
import { messageCommands } from '../src/messages/message-commands.js';
import { orderCommands } from '../src/orders/order-commands.js';
import { webhookCommands } from '../src/webhooks/webhook-commands.js';
import { call, rowsIn } from './support/commands.js';

const DAY = 24 * 60 * 60 * 1_000;
const WEBHOOK_SECRET = 's'.repeat(32);

/** A service on the same database, which the commands change behind its back. */
interface Service extends Pick<Infrastructure, 'close'> {
  readonly application: Application;
}

let database: TestDatabase;
let service: Service;
beforeAll(async () => {
  database = await createDatabase();
  const policy = testPolicy();
  const config = { policy, databaseUrl: database.url, poolSize: 2, webhookSecrets: [WEBHOOK_SECRET] };
  const { ports, ...store } = await openInfrastructure(config);
  const webhookSender = { ...ports.webhookSender, check: (url: string) => Promise.resolve(url) };
  service = { application: createApplication({ ...ports, webhookSender }, policy), ...store };
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

const query = (sql: string) => ask<Record<string, unknown>>(database.url, sql);
const on =
  (program: Program) =>
  (args: readonly string[], more: Parameters<typeof call>[3] = {}) =>
    call(program, args, { DATABASE_URL: database.url }, more);
const [callKeys, callAccounts] = [on(keyCommands), on(accountCommands)];
const keys = (...args: readonly string[]) => callKeys(args);
const accounts = (...args: readonly string[]) => callAccounts(args);

/** The rows of the list of keys, by column name. */
async function list(...args: readonly string[]): Promise<readonly Readonly<Record<string, string>>[]> {
  const { code, stdout } = await keys('list', ...args);
  expect(code).toBe(0);
  return rowsIn(stdout);
}

/** The text of a new key. */
async function create(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await keys('create', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^aas_live_[0-9A-Za-z]{38}\n$/);
  return stdout.trim();
}

async function idOf(key: string): Promise<string> {
  const { stdout } = await keys('list');
  return new RegExp(`^(\\d+) .*…${key.slice(-4)}`, 'm').exec(stdout)?.[1] ?? '';
}

/** The service's answer to a key: the scopes that its account is held to, or the code of the refusal. */
async function answerTo(key: string): Promise<string> {
  try {
    return (await service.application.authenticate.execute(key)).account.scopes?.join() ?? 'ok';
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}
const becomes = (key: string, answer: string) => until(async () => (await answerTo(key)) === answer);

describe('keys create', () => {
  it('prints only a key, which the running service accepts at once, for an account on a plan or with limits of its own', async () => {
    expect(await answerTo(await create('--email', 'dev@example.com', '--plan', 'free'))).toBe('ok');
    const own = ['--plan', 'enterprise', '--per-minute', '5000', '--per-day', '1000000'];
    await create('--email', 'pro@example.com', '--plan', 'pro', '--name', 'laptop');
    await create('--email', 'big@example.com', ...own);
    const [pro, big] = ['pro', 'enterprise (5000 a minute, 1000000 a day)'];
    expect(await list('--email', 'pro@example.com')).toMatchObject([{ PLAN: pro, NAME: 'laptop' }]);
    expect(await list('--email', 'big@example.com')).toMatchObject([{ PLAN: big }]);
  });

  it('adds a key to an existing account, and never changes its plan', async () => {
    for (const email of ['two@example.com', 'TWO@example.com']) await create('--email', email);
    expect(await list('--email', 'two@example.com')).toHaveLength(2);
    const { code, stdout, stderr } = await keys('create', '--email', 'two@example.com', '--plan', 'pro');
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(/: free; `accounts plan` can change it\n$/);
  });

  it('creates a key with the given scopes, or with all', async () => {
    await create('--email', 'scopes@example.com');
    await create('--email', 'scopes@example.com', '--scopes', 'all');
    await create('--email', 'scopes@example.com', '--scopes', 'orders:write,pets:write');
    const scopes = (await list('--email', 'scopes@example.com')).map(({ SCOPES }) => SCOPES);
    expect(scopes).toEqual(['all', 'all', 'pets:write,orders:write']);
  });

  it('creates a key that expires after so many days', async () => {
    const before = Date.now();
    await create('--email', 'days@example.com', '--expires-in', '3650');
    const [{ EXPIRES = '' } = {}] = await list('--email', 'days@example.com');
    expect(Date.parse(EXPIRES)).toBeGreaterThanOrEqual(before + 3_650 * DAY);
    expect(Date.parse(EXPIRES)).toBeLessThanOrEqual(Date.now() + 3_650 * DAY);
  });

  it('works on a data folder while no service runs', async () => {
    const folder = await temporaryFolder();
    const environment = { DATA_DIR: folder.path };
    const { code, stdout } = await call(keyCommands, ['create', '--email', 'dev@example.com'], environment);
    expect(code).toBe(0);
    expect((await call(keyCommands, ['list'], environment)).stdout).toContain(`…${stdout.trim().slice(-4)}`);
    await folder.remove();
  });
});

describe('keys list', () => {
  it('shows whether each key works, and when it was last used', async () => {
    const active = await create('--email', 'states@example.com');
    const rotated = await create('--email', 'states@example.com');
    const over = await create('--email', 'states@example.com');
    const revoked = await create('--email', 'states@example.com');
    await keys('rotate', await idOf(rotated));
    await keys('rotate', await idOf(over), '--overlap', '0');
    await keys('revoke', await idOf(revoked));
    await query(`UPDATE api_keys SET last_used_at = '2026-11-21T12:34:00Z' WHERE id = ${await idOf(revoked)}`);
    expect(await list('--email', 'states@example.com')).toMatchObject([
      { KEY: `…${active.slice(-4)}`, STATE: 'active', EXPIRES: 'never', 'LAST USED': 'never' },
      { STATE: 'rotated', EXPIRES: expect.stringMatching(/^\d{4}-/) },
      { STATE: 'expired' },
      { STATE: 'revoked', 'LAST USED': '2026-11-21T12:34:00.000Z' },
      { STATE: 'active' },
      { STATE: 'active' },
    ]);
  });

  it('shows with --deprecated the keys that call a deprecated operation, and when they last did', async () => {
    const [one, other] = [await create('--email', 'old@example.com'), await create('--email', 'new@example.com')];
    await query(`
      INSERT INTO key_operations (key_id, operation, last_used_at) VALUES
        (${await idOf(one)}, 'GET /v1/pets/{petId}', date_trunc('minute', now())),
        (${await idOf(other)}, 'GET /v1/pets', date_trunc('minute', now()))`);
    expect(await list('--deprecated')).toEqual([
      expect.objectContaining({
        ACCOUNT: 'old@example.com',
        KEY: `…${one.slice(-4)}`,
        DEPRECATED: expect.stringMatching(/^GET \/v1\/pets\/\{petId\} at \d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/),
      }),
    ]);
  });
});

it('keys disable refuses a key that the running service has just accepted, and shows it as disabled, until it is enabled', async () => {
  const key = await create('--email', 'disabled@example.com');
  expect(await answerTo(key)).toBe('ok');
  expect(await keys('disable', await idOf(key))).toMatchObject({ code: 0 });
  await becomes(key, 'disabled_api_key');
  expect(await list('--email', 'disabled@example.com')).toMatchObject([{ STATE: 'disabled' }]);
  expect(await keys('enable', await idOf(key))).toMatchObject({ code: 0 });
  await becomes(key, 'ok');
});

it.each(['disable', 'enable', 'revoke', 'rotate'])('keys %s of an unknown key says so', async (command) => {
  const stderr = expect.stringContaining('999999');
  expect(await keys(command, '999999')).toEqual({ code: 1, stdout: '', stderr });
});

describe('accounts', () => {
  it('plan puts an account on another plan', async () => {
    await create('--email', 'grows@example.com');
    expect(await accounts('plan', 'GROWS@example.com', 'pro')).toEqual({
      code: 0,
      stdout: 'the account of grows@example.com is on the plan pro\n',
      stderr: '',
    });
    const own = ['enterprise', '--per-minute', '5000', '--per-day', '1000000'];
    expect((await accounts('plan', 'grows@example.com', ...own)).stdout).toContain('(5000 a minute, 1000000 a day)');
  });

  it('scopes holds an account to scopes in the running service', async () => {
    const key = await create('--email', 'partner@example.com', '--scopes', 'pets:read,pets:write');
    expect(await answerTo(key)).toBe('ok');
    expect(await accounts('scopes', 'PARTNER@example.com', 'orders:read,pets:write')).toEqual({
      code: 0,
      stdout: 'the account of partner@example.com has the scopes pets:write,orders:read\n',
      stderr: '',
    });
    await becomes(key, 'pets:write,orders:read');
    expect(await list('--email', 'partner@example.com')).toMatchObject([{ SCOPES: 'pets:read,pets:write' }]);
  });

  it.each([
    ['plan', 'pro'],
    ['scopes', 'pets:read'],
  ])('%s for an address without an account says so and exits with 1', async (command, value) => {
    const stderr = 'no account has the address ghost@example.com\n';
    expect(await accounts(command, 'ghost@example.com', value)).toEqual({ code: 1, stdout: '', stderr });
    expect(await list('--email', 'ghost@example.com')).toEqual([]);
  });

  it('list shows each account, its plan and its scopes', async () => {
    await create('--email', 'listed@example.com', '--plan', 'pro');
    await accounts('scopes', 'listed@example.com', 'orders:read,pets:read');
    const { code, stdout } = await accounts('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ +dev@example\.com +free +all +\d{4}-\S+Z$/m);
    expect(stdout).toMatch(/^\d+ +listed@example\.com +pro +pets:read,orders:read +\d{4}-/m);
  });
});

describe('an account whose address is unproven', () => {
  const email = 'stranger@example.com';
  // A command knows nothing of mail but what the worker has stored.
  const withMail = async (program: Program, ...args: readonly string[]) => {
    await query("UPDATE deployment SET portal_url = 'https://portal.example.com'");
    const finished = await on(program)(args);
    await query('UPDATE deployment SET portal_url = NULL');
    return finished;
  };
  beforeAll(() =>
    query(`INSERT INTO accounts (email, plan, created_at, password_hash, credential_version)
           VALUES ('${email}', 'free', now(), 'hash', 1)`),
  );

  it.each([
    ['accounts plan', accountCommands, ['plan', email, 'pro']],
    ['keys create', keyCommands, ['create', '--email', email]],
  ])('is refused by %s where addresses are proven, unless --unproven is given', async (_what, program, args) => {
    const refused = await withMail(program, ...args);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^the address of the account of stranger@example\.com is unproven: .*--unproven/);
    expect(await list('--email', email)).toEqual([]);
    expect(await withMail(program, ...args, '--unproven')).toMatchObject({ code: 0, stderr: '' });
  });

  it('is shown as unproven in every list where addresses are proven, and else like any other', async () => {
    const row = /^\d+ +stranger@example\.com \(unproven\) +pro/m;
    expect((await withMail(accountCommands, 'list')).stdout).toMatch(row);
    expect((await withMail(keyCommands, 'list', '--email', email)).stdout).toMatch(row);
    expect((await withMail(accountCommands, 'plan', email, 'pro', '--unproven')).stdout).toContain(' (unproven) is on');
    await create('--email', email);
    expect((await accounts('plan', email, 'free')).stdout).toContain(`of ${email} is on`);
    expect((await accounts('list')).stdout + (await keys('list')).stdout).not.toContain('unproven');
  });
});

describe('messages', () => {
  const messages = on(messageCommands);
  const [failed, sent] = [`msg_${'f'.repeat(24)}`, `msg_${'s'.repeat(24)}`];
  beforeAll(async () => {
    await create('--email', 'writer@example.com');
    await query(`
      INSERT INTO messages (id, account_id, text, status, due_at, created_at)
      SELECT 'msg_' || repeat(left(status, 1), 24), id, 'Hello', status, now(), '2026-11-21T12:00:00Z'
      FROM accounts, unnest('{failed,sent}'::text[]) AS status WHERE email = 'writer@example.com'`);
  });

  it('list shows those of an account or those that have failed, never their text', async () => {
    const { code, stdout } = await messages(['list', '--account', 'WRITER@example.com']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${failed} +writer@example\\.com +failed +2026-11-21T12:00:00\\.000Z$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${sent} +writer@example\\.com +sent`, 'm'));
    expect(stdout).not.toContain('Hello');
    expect((await messages(['list', '--failed'])).stdout).not.toContain(sent);
  });

  it('retry queues each that has failed, and says why not another', async () => {
    const { code, stdout, stderr } = await messages(['retry', sent, failed, `msg_${'0'.repeat(24)}`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: `message ${failed} is queued again\n` });
    const unknown = `no message has the id msg_${'0'.repeat(24)}`;
    expect(stderr).toBe(`message ${sent} has not failed: it is sent\n${unknown}\n`);
    await query(`UPDATE messages SET status = 'failed' WHERE id = '${failed}'`);
    const since = (time: string) => messages(['retry', '--all-failed', '--since', time]);
    expect((await since('2026-11-21T12:00:01Z')).stdout).toBe('0 messages are queued again\n');
    expect((await since('2026-11-21T14:00:00+02:00')).stdout).toBe('1 message is queued again\n');
  });
});

describe('orders', () => {
  const orders = (...args: readonly string[]) => on(orderCommands)(args);
  const listed = async (...args: readonly string[]) => {
    const { code, stdout } = await orders('list', ...args);
    expect(code).toBe(0);
    return rowsIn(stdout).map(({ ID, ACCOUNT, ANIMAL, STATUS }) => [ID, ACCOUNT, ANIMAL, STATUS]);
  };

  /** Places an order of a new account for a new animal. */
  async function place(email: string) {
    const { openAccount, addAnimal, placeOrder, getAnimal } = service.application;
    const { id: accountId } = await openAccount.execute({ email });
    const { id: animalId } = await addAnimal.execute({ name: 'Luna', categoryId: 1n });
    const { id } = await placeOrder.execute({ accountId, animalId });
    const row = (status: string) => [String(id), email, String(animalId), status];
    const animalStatus = async () => (await getAnimal.execute(animalId)).status;
    return { id: String(id), accountId, row, animalStatus };
  }

  const eventsOf = async (accountId: AccountId) =>
    (await service.application.listEvents.execute({ accountId, types: ['order.completed', 'order.cancelled'] })).events;

  it('lists, completes and cancels those of every account, closed or not, which gets the events, and says why not another', async () => {
    const [sold, freed] = [await place('one@example.com'), await place('two@example.com')];
    await query(`UPDATE accounts SET closed_at = now() WHERE id = ${freed.accountId}`);
    expect(await listed('--placed')).toEqual([sold.row('placed'), freed.row('placed')]);
    expect(await orders('complete', '4711', sold.id)).toEqual({
      code: 1,
      stdout: `order ${sold.id} is completed\n`,
      stderr: 'no order has the id 4711\n',
    });
    expect(await orders('cancel', freed.id, sold.id)).toEqual({
      code: 1,
      stdout: `order ${freed.id} is cancelled\n`,
      stderr: `the order ${sold.id} is completed already\n`,
    });
    expect(await listed('--placed')).toEqual([]);
    expect(await listed()).toEqual([sold.row('completed'), freed.row('cancelled')]);
    expect([await sold.animalStatus(), await freed.animalStatus()]).toEqual(['sold', 'available']);
    expect(await eventsOf(sold.accountId)).toMatchObject([{ type: 'order.completed' }]);
    expect(await eventsOf(freed.accountId)).toMatchObject([{ type: 'order.cancelled' }]);
  });
});

describe('webhooks', () => {
  const webhooks = (...args: readonly string[]) =>
    call(webhookCommands, args, { DATABASE_URL: database.url, WEBHOOK_SECRET: `${WEBHOOK_SECRET},${'o'.repeat(32)}` });
  const [failing, other] = [`whk_${'f'.repeat(24)}`, `whk_${'o'.repeat(24)}`];
  beforeAll(async () => {
    await create('--email', 'hooks@example.com');
    await query(`
      INSERT INTO webhooks (id, account_id, url, status, secret, secret_key, created_at, updated_at, failing_since,
        recovering_since)
      SELECT hook, id, 'https://example.com/' || left(hook, 5), 'enabled', 'hidden', '', now(), now(), since, since
      FROM accounts, (VALUES ('${failing}', '2026-11-21T12:00:00Z'::timestamptz), ('${other}', NULL)) AS hooks (hook, since)
      WHERE email = 'hooks@example.com'`);
  });

  it('list shows those of all accounts or of one, how they are, and never a secret', async () => {
    const { code, stdout } = await webhooks('list');
    expect(code).toBe(0);
    const noon = '2026-11-21T12:00:00.000Z';
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['ID', 'ACCOUNT', 'STATUS', 'FAILING SINCE', 'RECOVERING SINCE', 'URL'],
      [failing, 'hooks@example.com', 'enabled', noon, noon, 'https://example.com/whk_f'],
      [other, 'hooks@example.com', 'enabled', '-', '-', 'https://example.com/whk_o'],
      [''],
    ]);
    expect((await webhooks('list', '--account', 'HOOKS@example.com')).stdout).toBe(stdout);
    expect((await webhooks('list', '--account', 'ghost@example.com')).stdout).not.toContain('whk_');
  });

  it('disable, enable and delete change each that there is, and say so of another', async () => {
    const missing = `whk_${'0'.repeat(24)}`;
    const stderr = `no webhook has the id ${missing}\n`;
    const done = (what: string) => ({ code: 1, stderr, stdout: `webhook ${failing} is ${what}\n` });
    const statuses = () => query(`SELECT status FROM webhooks ORDER BY id`);
    expect(await webhooks('disable', missing, failing)).toEqual(done('disabled'));
    expect(await statuses()).toEqual([{ status: 'disabled' }, { status: 'enabled' }]);
    expect(await webhooks('enable', missing, failing)).toEqual(done('enabled'));
    expect(await webhooks('delete', missing, failing)).toEqual(done('deleted'));
    expect(await statuses()).toEqual([{ status: 'enabled' }]);
  });

  it('secrets tells how many are encrypted with the first secret, an older one, and none of those given', async () => {
    const [account] = await query(`SELECT id FROM accounts WHERE email = 'hooks@example.com'`);
    const accountId = BigInt(String(account?.['id'])) as AccountId;
    await service.application.createWebhook.execute(byOperator({ accountId, url: 'https://example.com' }));
    expect(await webhooks('secrets')).toMatchObject({
      code: 0,
      stdout: `1 webhook encrypted with the first secret
0 webhooks encrypted with an older one of WEBHOOK_SECRET
1 webhook encrypted with none of them, or not looked at by a worker yet
`,
    });
  });
});
