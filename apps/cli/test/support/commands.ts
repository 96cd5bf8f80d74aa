import { spawnSync } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  ACCOUNTS,
  ANIMALS,
  API,
  createDatabase,
  type Environment,
  type Finished,
  KEYS,
  Running,
  type TestDatabase,
} from '@adoption-store/test-support';
import { accountCommands } from '../../src/account-commands.js';
import { type Program, runCommand } from '../../src/command-line.js';
import { keyCommands } from '../../src/key-commands.js';

/** The commands, on a database of the suite. */
export interface Commands {
  /** The database's address, from `beforeAll` on. */
  readonly url: string;
  readonly keys: (...args: string[]) => Promise<Finished>;
  readonly accounts: (...args: string[]) => Promise<Finished>;
  /** The rows of the list of keys, by column name. */
  readonly list: (...args: string[]) => Promise<readonly Readonly<Record<string, string>>[]>;
  /** The text of a new key. */
  readonly create: (...args: string[]) => Promise<string>;
  readonly idOf: (key: string) => Promise<string>;
  /** Runs a command in a shell, which can redirect its output. */
  readonly inShell: (command: string, url?: string) => Finished;
}

export function useCommands(): Commands {
  const suite = {} as { database: TestDatabase };
  beforeAll(async () => {
    suite.database = await createDatabase();
  });
  afterAll(() => suite.database.drop());

  const keys = (...args: string[]) => call(keyCommands, args, { DATABASE_URL: suite.database.url });
  return {
    get url() {
      return suite.database.url;
    },
    keys,
    accounts: (...args) => call(accountCommands, args, { DATABASE_URL: suite.database.url }),
    async list(...args) {
      const { code, stdout } = await keys('list', ...args);
      expect(code).toBe(0);
      const [heads = [], ...rows] = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
      return rows.map((row) => Object.fromEntries(heads.map((head, column) => [head, row[column] ?? ''])));
    },
    async create(...args) {
      const { code, stdout, stderr } = await keys('create', ...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^aas_live_[0-9A-Za-z]{38}\n$/);
      return stdout.trim();
    },
    async idOf(key) {
      const { stdout } = await keys('list');
      return new RegExp(`^(\\d+) .*…${key.slice(-4)}`, 'm').exec(stdout)?.[1] ?? '';
    },
    inShell: (command, url = suite.database.url) => inShell(command, url),
  };
}

/** Runs a command in a shell, on that database. */
export function inShell(command: string, url: string): Finished {
  const programs = { KEYS, ACCOUNTS, ANIMALS, NODE: process.execPath };
  const env = { PATH: process.env['PATH'], ...programs, DATABASE_URL: url };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** Runs a command in this process, which saves the time that a new one needs to load the code. */
export async function call(
  program: Program,
  args: readonly string[],
  environment: Environment,
  stdin = Readable.from([]),
): Promise<Finished> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommand(program, args, environment, { stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  const [printed, complaint] = await texts;
  return { code, stdout: printed, stderr: complaint };
}

/** The API on the same database. */
export interface RunningApi {
  /** From `beforeAll` on. */
  readonly origin: string;
  /** `ok`, or the code of the refusal. */
  readonly answerTo: (key: string) => Promise<string>;
  /** Expects that the running service, which did not make the change, gives this answer within a second. */
  readonly becomes: (key: string, answer: string) => Promise<void>;
}

export function useRunningApi(commands: Pick<Commands, 'url'>): RunningApi {
  const suite = {} as { service: Running; origin: string };
  beforeAll(async () => {
    suite.service = new Running(API, [], { DATABASE_URL: commands.url, PORT: '0', HOST: '127.0.0.1' });
    suite.origin = (await suite.service.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
  });
  afterAll(() => suite.service.stop());

  const answerTo = async (key: string) => {
    const response = await fetch(`${suite.origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    if (response.status === 200) return 'ok';
    return ((await response.json()) as { code: string }).code;
  };
  return {
    get origin() {
      return suite.origin;
    },
    answerTo,
    async becomes(key, answer) {
      const deadline = Date.now() + 1_000;
      // At most twenty requests, because the free plan allows only sixty a minute.
      while ((await answerTo(key)) !== answer && Date.now() < deadline) await delay(50);
      expect(await answerTo(key)).toBe(answer);
    },
  };
}
