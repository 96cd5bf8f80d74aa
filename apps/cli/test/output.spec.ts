import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ACCOUNTS, ask, createDatabase, KEYS, run, type TestDatabase } from '@adoption-store/test-support';
import { keyCommands } from '../src/key-commands.js';
import { call, useCommands, useRunningApi } from './support/commands.js';

const commands = useCommands();
const { keys, list, create, idOf, inShell } = commands;
const { answerTo } = useRunningApi(commands);

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

describe('a long list', () => {
  const ROWS = 100_000;
  let long: TestDatabase;
  beforeAll(async () => {
    long = await createDatabase();
    const opened = await call(keyCommands, ['create', '--email', 'many@example.com'], { DATABASE_URL: long.url });
    expect(opened).toMatchObject({ code: 0 });
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
    // A database that has grown has statistics.
    await ask(long.url, 'ANALYZE accounts, api_keys');
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
