import { beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '@adoption-store/test-support';
import { accountCommands } from '../src/account-commands.js';
import type { Program } from '../src/command-line.js';
import { keyCommands } from '../src/key-commands.js';
import { call, useCommands, useRunningApi } from './support/commands.js';

const commands = useCommands();
const { keys, accounts, list, create } = commands;
const { answerTo, becomes } = useRunningApi(commands);

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

describe('accounts scopes', () => {
  it('holds an account to scopes, and back, in the running service within a second', async () => {
    const key = await create('--email', 'partner@example.com', '--scopes', 'pets:read,pets:write');
    expect(await answerTo(key)).toBe('ok');
    const held = await accounts('scopes', 'PARTNER@example.com', 'orders:read,pets:write');
    expect(held).toMatchObject({ code: 0, stderr: '' });
    expect(held.stdout).toBe('the account of partner@example.com has the scopes pets:write,orders:read\n');
    await becomes(key, 'insufficient_scope');
    expect(await list('--email', 'partner@example.com')).toMatchObject([{ SCOPES: 'pets:read,pets:write' }]);
    const back = await accounts('scopes', 'partner@example.com', 'all');
    expect(back.stdout).toBe('the account of partner@example.com has the scopes all\n');
    await becomes(key, 'ok');
  });

  it('for an address without an account says so and exits with 1', async () => {
    const { code, stdout, stderr } = await accounts('scopes', 'ghost@example.com', 'pets:read');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('no account has the address ghost@example.com\n');
  });
});

describe('accounts list', () => {
  it('shows each account, its plan and its scopes', async () => {
    await create('--email', 'listed@example.com', '--plan', 'pro');
    const { code, stdout } = await accounts('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ +listed@example\.com +pro \(300 a minute, 10000 a day\) +all +\d{4}-\S+Z$/m);
    await accounts('scopes', 'listed@example.com', 'orders:read,pets:read');
    expect((await accounts('list')).stdout).toMatch(/^\d+ +listed@example\.com .*\) +pets:read,orders:read +\d{4}-/m);
  });
});

describe('an account whose address is unproven', () => {
  const email = 'stranger@example.com';
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1' };
  const withMail = (program: Program, ...args: string[]) =>
    call(program, args, { DATABASE_URL: commands.url, ...mail });
  beforeAll(async () => {
    await ask(
      commands.url,
      `INSERT INTO accounts (email, plan, created_at, password_hash, credential_version)
       VALUES ('${email}', 'free', now(), 'hash', 1)`,
    );
  });

  it.each([
    ['accounts plan', accountCommands, ['plan', email, 'pro']],
    ['keys create', keyCommands, ['create', '--email', email]],
  ])('is refused by %s where there is SMTP, unless --unproven is given', async (_what, program, args) => {
    const refused = await withMail(program, ...args);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^the address of the account of stranger@example\.com is unproven: .*--unproven/);
    expect(await list('--email', email)).toEqual([]);
    expect(await withMail(program, ...args, '--unproven')).toMatchObject({ code: 0, stderr: '' });
    await accounts('plan', email, 'free');
    for (const { ID = '' } of await list('--email', email))
      await ask(commands.url, `DELETE FROM api_keys WHERE id = ${ID}`);
  });

  it('is shown as unproven in every list with SMTP', async () => {
    await withMail(keyCommands, 'create', '--email', email, '--unproven');
    expect((await withMail(accountCommands, 'list')).stdout).toMatch(/^\d+ +stranger@example\.com \(unproven\) +free/m);
    expect((await withMail(keyCommands, 'list', '--email', email)).stdout).toMatch(
      /^\d+ +stranger@example\.com \(unproven\) +free/m,
    );
    expect((await withMail(accountCommands, 'plan', email, 'pro', '--unproven')).stdout).toContain(
      `${email} (unproven)`,
    );
  });

  it('is shown like any other without SMTP', async () => {
    await create('--email', email);
    expect(await accounts('plan', email, 'free')).toMatchObject({ code: 0 });
    expect((await accounts('list')).stdout).not.toContain('unproven');
    expect((await keys('list')).stdout).not.toContain('unproven');
  });

  it('is never one that the operator opened', async () => {
    expect(await withMail(keyCommands, 'create', '--email', 'customer@example.com')).toMatchObject({ code: 0 });
    expect(await withMail(keyCommands, 'create', '--email', 'customer@example.com')).toMatchObject({ code: 0 });
    expect(await withMail(accountCommands, 'plan', 'customer@example.com', 'pro')).toMatchObject({ code: 0 });
    expect((await withMail(accountCommands, 'list')).stdout).toMatch(/customer@example\.com +pro/);
  });
});
