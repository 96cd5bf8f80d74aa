import { API, MIGRATE, run, START, WORKER } from '@adoption-store/test-support';
import { describe, expect, it } from '@jest/globals';
import { accountCommands } from '../src/accounts/account-commands.js';
import { keyCommands } from '../src/accounts/key-commands.js';
import { animalCommands } from '../src/animals/animal-commands.js';
import type { Program } from '../src/command-line.js';
import { messageCommands } from '../src/messages/message-commands.js';
import { orderCommands } from '../src/orders/order-commands.js';
import { webhookCommands } from '../src/webhooks/webhook-commands.js';
import { call } from './support/commands.js';

/** Whatever opens it fails, with another exit code than that of wrong usage. */
const NO_DATABASE = { DATABASE_URL: 'postgres://127.0.0.1:1/nothing' };

const newKey = ['create', '--email', 'dev@example.com'];

it.each<[string, Program, readonly (readonly string[])[]]>([
  [
    'keys',
    keyCommands,
    [
      ...[[], ['destroy'], ['toString'], ['create', 'dev@example.com'], ['create', '--email', 'nobody']],
      [...newKey, '--plan', 'gold'],
      [...newKey, '--plan', 'enterprise', '--per-minute', 'x', '--per-day', '5'],
      [...newKey, '--name', ' '],
      [...newKey, '--frobnicate'],
      [...newKey, '--scopes', 'pets:read,pets'],
      ...['0', '3651', '1.5'].map((days) => [...newKey, '--expires-in', days]),
      ...[['list', 'everything'], ['revoke'], ['revoke', 'abc'], ['revoke', '1', '2']],
      ...['soon', '721'].map((hours) => ['rotate', '1', '--overlap', hours]),
    ],
  ],
  [
    'accounts',
    accountCommands,
    [
      ...[[], ['destroy'], ['list', 'everything'], ['plan'], ['plan', 'dev@example.com'], ['plan', 'nobody', 'pro']],
      ...[['scopes'], ['scopes', 'dev@example.com'], ['scopes', 'dev@example.com', 'pets']],
      ['plan', 'dev@example.com', 'enterprise', '--per-minute', '5'],
    ],
  ],
  [
    'messages',
    messageCommands,
    [
      ...[[], ['list'], ['retry'], ['retry', '1'], ['retry', '--all-failed']],
      ...['yesterday', '2026-02-30T00:00:00Z'].map((since) => ['retry', '--all-failed', '--since', since]),
      ['retry', '--since', '2026-11-01T00:00:00Z', `msg_${'f'.repeat(24)}`],
    ],
  ],
  [
    'webhooks',
    webhookCommands,
    [
      ...[[], ['destroy'], ['list', 'everything'], ['list', '--account', 'nobody'], ['secrets', 'all'], ['disable']],
      ['delete', '1'],
    ],
  ],
  [
    'orders',
    orderCommands,
    [[], ['list', 'all'], ['list', '--json=yes'], ['complete'], ['complete', '1', 'abc'], ['cancel', '0']],
  ],
  [
    'animals',
    animalCommands,
    [
      ...[[], ['destroy'], ['import'], ['import', 'a.csv', 'b.csv'], ['export', 'a.csv', 'b.csv']],
      ['export', '--format', 'asm3'],
      ['export', '--format', 'ndjson', '--for-spreadsheets'],
      ['import', '-', '--format', 'toString'],
      ['import', '-', '--categories', 'Dog=1'],
      ['import', '-', '--dry-run=yes'],
      ...['Dog', 'Dog=x'].map((categories) => ['import', '-', '--format', 'asm3', '--categories', categories]),
    ],
  ],
])(
  '%s prints its usage on standard error and exits with 64 for wrong arguments, before anything is done',
  async (name, program, all) => {
    for (const args of all) {
      const { code, stdout, stderr } = await call(program, args, NO_DATABASE);
      expect({ args, code, stdout }).toEqual({ args, code: 64, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^Usage:\n  npm run -s ${name} -- [^]*\n\n.+\n$`));
    }
  },
);

describe('--help and -h', () => {
  const programs = { keyCommands, accountCommands, messageCommands, orderCommands, webhookCommands, animalCommands };

  it.each(Object.entries(programs))(
    'of %s print its usage, alone and after each command, and do nothing',
    async (_name, program) => {
      for (const args of [[], ...Object.keys(program.commands).map((name) => [name, 'x'])]) {
        for (const help of ['--help', '-h'])
          expect(await call(program, [...args, help], NO_DATABASE)).toEqual({
            code: 0,
            stdout: program.usage,
            stderr: '',
          });
      }
    },
  );
});

describe('as processes', () => {
  const programs = { API, WORKER, START, MIGRATE };

  it.each(Object.entries(programs))(
    '%s takes no arguments, and says so before anything is done',
    async (_name, program) => {
      const { code, stdout, stderr } = await run(program, ['--dry-run'], NO_DATABASE);
      expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
      expect(stderr).toMatch(/.+\n\nthis program takes no arguments\n$/);
      const help = await run(program, ['-h'], NO_DATABASE);
      expect(help).toEqual({ code: 0, stdout: stderr.replace(/\n.*\n$/, ''), stderr: '' });
    },
  );
});
