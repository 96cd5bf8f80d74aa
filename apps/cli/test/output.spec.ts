import { openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable, Transform } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ask, createDatabase, type TestDatabase, until } from '@adoption-store/test-support';
import { accountCommands } from '../src/accounts/account-commands.js';
import { keyCommands } from '../src/accounts/key-commands.js';
import { animalCommands } from '../src/animals/animal-commands.js';
import type { Program } from '../src/command-line.js';
import { messageCommands } from '../src/messages/message-commands.js';
import { orderCommands } from '../src/orders/order-commands.js';
import { webhookCommands } from '../src/webhooks/webhook-commands.js';
import { call, failing, inShell, rowsIn } from './support/commands.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const query = (sql: string) => ask<Record<string, unknown>>(database.url, sql);
/** As an operator runs them: an import makes a table, so it needs the owner's role. */
const on =
  (program: Program) =>
  (args: readonly string[], more: Parameters<typeof call>[3] = {}) =>
    call(program, args, { DATABASE_URL: database.ownerUrl }, more);
const [keys, accounts, animals] = [on(keyCommands), on(accountCommands), on(animalCommands)];
const inBytes = (bytes: string) => ({ stdin: Readable.from([Buffer.from(bytes)]) });
const create = (email: string, ...args: readonly string[]) => keys(['create', '--email', email, ...args]);
const list = async (email: string) => rowsIn((await keys(['list', '--email', email])).stdout);
const UNWRITTEN = (reason: string) => `the output could not be written (${reason}): what it lacks is above\n`;
const INCOMPLETE = (reason: string) => `the output could not be written (${reason}): it is incomplete\n`;

describe('what a command has done', () => {
  const [message, webhook, other] = [`msg_${'f'.repeat(24)}`, `whk_${'f'.repeat(24)}`, `whk_${'o'.repeat(24)}`];
  beforeAll(async () => {
    await create('done@example.com');
    await query(`
      INSERT INTO messages (id, account_id, text, status, due_at, created_at)
      SELECT '${message}', id, 'Hello', 'failed', now(), now() FROM accounts`);
    await query(`
      INSERT INTO webhooks (id, account_id, url, status, secret, secret_key, created_at, updated_at)
      SELECT hook, id, 'https://example.com', 'enabled', 'hidden', '', now(), now()
      FROM accounts, unnest('{${webhook},${other}}'::text[]) AS hook`);
    await query(`
      WITH animal AS (INSERT INTO animals (name, name_key, category_id, status) VALUES ('Rex', 'rex', 1, 'pending') RETURNING id)
      INSERT INTO orders (id, account_id, animal_id, status, created_at, updated_at)
      SELECT 7, accounts.id, animal.id, 'placed', now(), now() FROM accounts, animal`);
  });

  it.each<[string, Program, readonly string[], RegExp]>([
    ['accounts plan', accountCommands, ['plan', 'done@example.com', 'pro'], /^the account of .* is on the plan pro/],
    [
      'accounts scopes',
      accountCommands,
      ['scopes', 'done@example.com', 'all'],
      /^the account of .* has the scopes all/,
    ],
    ['keys disable', keyCommands, ['disable', '1'], /^key 1 .* is disabled/],
    ['keys enable', keyCommands, ['enable', '1'], /^key 1 .* is enabled/],
    ['keys revoke', keyCommands, ['revoke', '1'], /^key 1 .* is revoked/],
    ['messages retry', messageCommands, ['retry', message], /^message \w+ is queued again/],
    ['orders complete', orderCommands, ['complete', '7'], /^order 7 is completed/],
    ['webhooks disable', webhookCommands, ['disable', webhook], /^webhook \w+ is disabled/],
    ['webhooks secrets', webhookCommands, ['secrets'], /^0 webhooks .*\n.*\n2 webhooks/],
    ['animals import', animalCommands, ['import', '-'], /^2 animals added\n {2}with an id of the file: 2/],
  ])('is said on standard error if %s can’t write its output', async (_what, program, args, text) => {
    const file = inBytes('id,name,categoryId\n70,Rex,1\n71,Mia,1\n');
    const { code, stderr } = await on(program)(args, { ...file, stdout: failing('ENOSPC') });
    const [, done, sentence] = /^([^]*\n)(.*\n)$/.exec(stderr) ?? [];
    expect({ code, sentence }).toEqual({ code: 74, sentence: UNWRITTEN('ENOSPC') });
    expect(done).toMatch(text);
  });

  it('is done and said for each, and what is refused decides the exit code', async () => {
    const missing = `whk_${'0'.repeat(24)}`;
    const args = ['delete', webhook, missing, other];
    expect(await on(webhookCommands)(args, { stdout: failing('EPIPE') })).toMatchObject({
      code: 1,
      stderr:
        `webhook ${webhook} is deleted\nwebhook ${other} is deleted\n` +
        `${UNWRITTEN('EPIPE')}no webhook has the id ${missing}\n`,
    });
    expect(await query('SELECT id FROM webhooks')).toEqual([]);
  });
});

describe('a key that can’t be shown', () => {
  const closed = () => Object.assign(new PassThrough(), { fd: openSync('/dev/null', 'w') });

  it.each([
    ['full', () => failing('ENOSPC'), 'ENOSPC'],
    ['gone', () => failing('EPIPE'), 'EPIPE'],
  ])('as the output is %s is revoked again, and the command says so', async (what, open, reason) => {
    const email = `${what}@example.com`;
    const { code, stderr } = await keys(['create', '--email', email], { stdout: open() });
    const [key, ...more] = await list(email);
    expect([code, key?.['STATE'], more]).toEqual([74, 'revoked', []]);
    expect(stderr).toBe(`key ${key?.['ID']} (${key?.['KEY']}) could not be shown (${reason}), so it was revoked\n`);
  });

  it('in place of another leaves that one unchanged', async () => {
    await create('unseen@example.com', '--expires-in', '30');
    const [before] = await list('unseen@example.com');
    const { code, stderr } = await keys(['rotate', before?.['ID'] ?? '', '--overlap', '0'], { stdout: closed() });
    expect(code).toBe(74);
    expect(stderr).toMatch(/^key \d+ .* so it was revoked; key \d+ \(….{4}\) is unchanged\n$/);
    expect(before).toMatchObject({ STATE: 'active' });
    expect(await list('unseen@example.com')).toMatchObject([before, { STATE: 'revoked' }]);
  });
});

describe('a long list', () => {
  const ROWS = 20_000;
  beforeAll(async () => {
    await query(`
      INSERT INTO accounts (email, plan, created_at)
      SELECT 'account-' || number || '@example.com', 'free', now() FROM generate_series(1, ${ROWS}) AS number`);
  });
  afterAll(() => query(`DELETE FROM accounts WHERE email LIKE 'account-%'`));

  it('is printed whole, a thousand rows at a time, so that its memory does not grow', async () => {
    const parts: number[] = [];
    const stdout = new Transform({
      transform: (chunk, _encoding, done) => {
        parts.push(String(chunk).split('\n').length - 1);
        done(null, chunk);
      },
    });
    const { code, stdout: printed } = await accounts(['list'], { stdout });
    const ids = printed.trimEnd().split('\n').slice(1).map(Number.parseFloat);
    expect({ code, isWhole: ids.length > ROWS }).toEqual({ code: 0, isWhole: true });
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.max(...parts)).toBeLessThanOrEqual(1_001);
  });

  it('that can’t be written whole is an error, as any list, export and usage', async () => {
    const listings: readonly [Program, readonly string[]][] = [
      ...[keyCommands, accountCommands, orderCommands, webhookCommands].map((each): [Program, string[]] => [
        each,
        ['list'],
      ]),
      [messageCommands, ['list', '--failed']],
      [animalCommands, ['export']],
      [animalCommands, ['--help']],
    ];
    for (const reason of ['EPIPE', 'ENOSPC'] as const)
      for (const [program, args] of listings) {
        const stderr = INCOMPLETE(reason);
        expect(await on(program)(args, { stdout: failing(reason) })).toMatchObject({ code: 74, stderr });
      }
  });
});

const HOSTILE = 'st\u00adatus\u001b]0;x\u0007\u009b2J\u202ea\u2066\u200f\u2028\r';
const ESCAPED = String.raw`st\u{AD}atus\u{1B}]0;x\u{7}\u{9B}2J\u{202E}a\u{2066}\u{200F}\u{2028}\u{D}`;

describe('every list', () => {
  const [BIG, LONG] = ['9007199254740993', `${'x'.repeat(300)}\u{1f408}`.repeat(2)];
  const asked = (command: string) => (command === 'messages' ? ['list', '--failed'] : ['list']);
  /** All programs of src/, so that a new one is found. */
  const programs = readdirSync(join(__dirname, '../src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-commands.ts'))
    .flatMap((name) => Object.values(jest.requireActual<Readonly<Record<string, Program>>>(`../src/${name}`)))
    .flatMap((program): [string, Program][] => {
      const [, name = ''] = /npm run -s (\w+)/.exec(program.usage) ?? [];
      return 'list' in program.commands ? [[name, program]] : [];
    });

  beforeAll(async () => {
    await query(`INSERT INTO accounts (id, email, plan, created_at) VALUES (${BIG}, 'big@example.com', 'pro', now())`);
    await create('big@example.com', '--scopes', 'pets:read', '--expires-in', '30');
    await query(`UPDATE api_keys SET id = ${BIG}, name = E'${LONG}"${HOSTILE}\\\\\\n' WHERE account_id = ${BIG}`);
    await query(`
      WITH animal AS (INSERT INTO animals (id, name, name_key, category_id, status)
        VALUES (${2n ** 62n}, 'Rex', 'rex', 1, 'pending'))
      INSERT INTO orders (id, account_id, animal_id, status, created_at, updated_at)
      VALUES (${BIG}, ${BIG}, ${2n ** 62n}, 'placed', now(), now())`);
    await query(`
      INSERT INTO messages (id, account_id, text, status, due_at, created_at)
      VALUES ('msg_${'j'.repeat(24)}', ${BIG}, 'Hello', 'failed', now(), '2026-11-21T12:00:00Z')`);
    await query(`
      INSERT INTO webhooks (id, account_id, url, types, status, secret, secret_key, created_at, updated_at)
      VALUES ('whk_${'j'.repeat(24)}', ${BIG}, 'https://${LONG}', '{pet.added}', 'enabled', 'hidden', '', now(), now())`);
  });

  it.each(programs)(
    'of %s has with --json an object a line, with the fields of the API and exact ids',
    async (name, program) => {
      const { code, stdout } = await on(program)([...asked(name), '--json']);
      const line = stdout.split('\n').find((each) => each.includes(BIG)) ?? '';
      expect(code).toBe(0);
      const account = `{"id":${BIG},"email":"big@example.com","proven":true,"plan":"pro","perMinute":300,"perDay":10000,"createdAt":"`;
      expect(line).toContain(name === 'accounts' ? account : `"account":${account}`);
      const id = { messages: '"msg_', webhooks: '"whk_' }[name] ?? BIG;
      expect(line).toMatch(new RegExp(`^{"id":${id}.*"createdAt":"\\d{4}-`));
      const parsed: unknown = JSON.parse(line);
      if (name === 'orders') expect(line).toContain(`"petId":${2n ** 62n},"status":"placed"`);
      if (name === 'webhooks')
        expect(line).toContain(`"url":"https://${LONG}","types":["pet.added"],"status":"enabled"`);
      if (name === 'keys')
        expect(parsed).toMatchObject({ name: `${LONG}"${HOSTILE}\\\n`, state: 'active', scopes: ['pets:read'] });
    },
  );

  it.each(programs)(
    'of %s ends long cells in … on a terminal, never an id or a time, and has all elsewhere',
    async (name, program) => {
      const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
      const shown = (await on(program)(asked(name), { stdout: terminal })).stdout;
      const whole = (await on(program)(asked(name))).stdout;
      const isLong = ['keys', 'webhooks'].includes(name);
      expect([shown.includes(LONG), whole.includes(LONG)]).toEqual([false, isLong]);
      expect(/\bx+…$/m.test(shown)).toBe(isLong);
      expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(200);
      for (const word of whole.match(/\d{16}|\w{3}_\w{24}|\S+Z\b/g) ?? []) expect(shown).toContain(word);
    },
  );
});

describe('an import', () => {
  // The database needs its timers, the progress an interval alone.
  beforeEach(() => {
    jest.useFakeTimers({
      doNotFake: [
        'setTimeout',
        'clearTimeout',
        'clearImmediate',
        'setImmediate',
        'nextTick',
        'queueMicrotask',
        'Date',
        'performance',
        'hrtime',
      ],
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** What an import whose rows are still to come prints on standard error, two seconds after it has begun and at its end. */
  async function printedBy(stderr: PassThrough, hasBegun: (stdin: PassThrough) => boolean) {
    const stdin = new PassThrough();
    const finished = animals(['import', '-', '--dry-run'], { stdin, stderr });
    stdin.write('name,categoryId\nRex,1\n');
    await until(() => Promise.resolve(hasBegun(stdin)));
    jest.advanceTimersByTime(2_000);
    const early = stderr.read() as Buffer | null;
    stdin.end();
    const { code, stderr: late } = await finished;
    return { code, early: String(early ?? ''), late };
  }

  it('says on a terminal within two seconds how far it is, and takes that away at its end', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    const { code, early, late } = await printedBy(terminal, () => jest.getTimerCount() > 0);
    expect({ code, early, late }).toEqual({
      code: 0,
      early: expect.stringMatching(/\r2 s: \d rows? read/),
      late: '\r\u001b[K',
    });
  });

  it('prints nothing of the kind on anything else', async () => {
    const isRead = (stdin: PassThrough) => stdin.readableLength === 0;
    expect(await printedBy(new PassThrough(), isRead)).toEqual({ code: 0, early: '', late: '' });
  });
});

describe('text of strangers', () => {
  it('is printed with its invisible characters escaped, whatever prints it', async () => {
    await create('hostile@example.com', '--name', 'plain');
    await query(`UPDATE api_keys SET name = E'${HOSTILE}\\nB' WHERE name = 'plain'`);
    await query(`UPDATE accounts SET email = '\u001b]0;x\u202e@example.com' WHERE email = 'hostile@example.com'`);
    const file = JSON.stringify({ name: 'Rex', categoryId: 1, [`${HOSTILE}\n2 animals added`]: 'x' });
    const printed = [
      await keys(['list']),
      await accounts(['list']),
      await animals(['import', '-', '--dry-run', '--format', 'ndjson'], inBytes(file)),
      await animals(['import', '-'], inBytes(`name,categoryId,"${HOSTILE}","${HOSTILE}"\n`)),
      await keys([HOSTILE]),
      await accounts(['plan', HOSTILE, 'pro']),
    ];
    for (const { stdout, stderr } of printed) expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}]/u);
    expect(printed[0]?.stdout).toContain(`${ESCAPED}\\u{A}B\n`);
    expect(printed[1]?.stdout).toContain(String.raw`\u{1B}]0;x\u{202E}@example.com  `);
    expect(printed[2]?.stdout).toContain(`  ${ESCAPED}\\u{A}2 animals added: 1\n`);
  });

  it('is exact in an export, unless that goes to a terminal', async () => {
    await query(`INSERT INTO animals (name, name_key, category_id, status) VALUES ('${HOSTILE}', '', 1, 'sold')`);
    expect((await animals(['export'])).stdout).toContain(HOSTILE);
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    const { stdout } = await animals(['export', '--format', 'ndjson'], { stdout: terminal });
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}]/u);
  });
});

describe('as processes', () => {
  const shell = (command: string) => inShell(command, database.ownerUrl);

  it('keys revokes a key that nobody could see, because its output is closed', async () => {
    const { code, stderr } = shell('"$NODE" "$KEYS" create --email dark@example.com >&-');
    expect(code).toBe(74);
    expect(stderr).toMatch(/^key \d+ \(….{4}\) could not be shown \(the output is closed\), so it was revoked\n$/);
    expect(await list('dark@example.com')).toMatchObject([{ STATE: 'revoked' }]);
  });

  it('say on standard error what was done, if their output is full (74) or closed', async () => {
    await create('shell@example.com');
    const account = 'the account of shell@example.com is on the plan pro\n';
    const plan = '"$NODE" "$ACCOUNTS" plan shell@example.com pro';
    expect(shell(`${plan} >/dev/full`)).toMatchObject({ code: 74, stderr: account + UNWRITTEN('ENOSPC') });
    expect(shell(`${plan} >&-`)).toMatchObject({ code: 0, stderr: account });
    expect(shell(`${plan} >/dev/null`)).toMatchObject({ code: 0, stderr: '' });
    const migrated = { code: 74, stderr: `The schema is up to date.\n${UNWRITTEN('ENOSPC')}` };
    expect(shell('"$NODE" "$MIGRATE" >/dev/full')).toMatchObject(migrated);
    expect(shell('"$NODE" "$MIGRATE" --help >/dev/full')).toMatchObject({ code: 74 });
  });

  it('exit with 74 if an export is incomplete, however its output has ended', async () => {
    await query(
      `INSERT INTO animals (name, name_key, category_id, status) SELECT 'Rex', 'rex', 1, 'sold' FROM generate_series(1, 20000)`,
    );
    const command = '"$NODE" "$ANIMALS" export';
    expect(shell(`${command} | head -n1`)).toMatchObject({ code: 74, stderr: INCOMPLETE('EPIPE') });
    expect(shell(`${command} >&-`)).toMatchObject({ code: 74, stderr: INCOMPLETE('it is closed') });
    const file = shell(`${command} /dev/full`);
    expect(file).toMatchObject({ code: 74, stderr: "/dev/full can't be written (ENOSPC)\n" });
    expect(shell(`${command} >/dev/null`)).toMatchObject({ code: 0, stderr: '' });
  });

  it('refuse an argument that is not UTF-8, before two people share an account', async () => {
    const { code, stderr } = shell(`"$NODE" "$KEYS" create --email $'\\xe9@example.com'`);
    expect(code).toBe(64);
    expect(stderr).toMatch(
      /^Usage:[^]*\n\nargument 3 is not UTF-8, or has U\+FFFD, which stands for bytes that are not\n$/,
    );
  });
});
