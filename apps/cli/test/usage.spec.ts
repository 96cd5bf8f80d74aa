import { describe, expect, it } from '@jest/globals';
import { ACCOUNTS, ANIMALS, KEYS, MESSAGES, run } from '@adoption-store/test-support';
import { useCommands } from './support/commands.js';

const commands = useCommands();
const { keys, accounts } = commands;

describe('a key that can’t be made', () => {
  it.each([
    ['--name', ''],
    ['--name', ' '],
    ['--name', 'x'.repeat(101)],
    ['--expires-in', '0'],
    ['--scopes', 'pets:read,pets'],
  ])('(%s %j) opens no account', async (...args) => {
    expect(await keys('create', '--email', 'unopened@example.com', ...args)).toMatchObject({ code: 64, stdout: '' });
    expect((await accounts('list')).stdout).not.toContain('unopened@example.com');
  });
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
    [['create', '--email', 'dev@example.com', '--scopes', '']],
    [['create', '--email', 'dev@example.com', '--scopes', 'pets:delete']],
    [['create', '--email', 'dev@example.com', '--scopes', 'pets:read,pets:read']],
    [['create', '--email', 'dev@example.com', '--scopes', 'pets:read', 'pets:write']],
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
    [['scopes']],
    [['scopes', 'dev@example.com']],
    [['scopes', 'nobody', 'all']],
    [['scopes', 'dev@example.com', 'all,pets:read']],
    [['scopes', 'dev@example.com', 'pets:read', 'pets:write']],
    [['plan', 'dev@example.com', 'gold']],
    [['plan', 'dev@example.com', 'enterprise', '--per-minute', '5']],
    [['plan', 'dev@example.com', 'pro', '--per-minute', '5', '--per-day', '5']],
  ])('%j', async (args) => {
    const { code, stdout, stderr } = await accounts(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('Usage:');
  });
});

it.each([
  ['keys', KEYS],
  ['accounts', ACCOUNTS],
  ['messages', MESSAGES],
  ['animals', ANIMALS],
])('the program %s prints its usage on standard error and exits with 64 without a command', async (name, program) => {
  const { code, stdout, stderr } = await run(program, [], {});
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^a command is missing\n\nUsage:\n  npm run -s ${name} -- `));
});
