import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { API, KEYS, run, Running, temporaryFolder } from '../support/processes.js';

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

const keys = (...args: string[]) => run(KEYS, args, { DATABASE_URL: database.url });

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

async function idOf(key: string): Promise<string> {
  const { stdout } = await keys('list');
  return new RegExp(`^(\\d+) .*…${key.slice(-4)}`, 'm').exec(stdout)?.[1] ?? '';
}

describe('keys create', () => {
  it('prints a key alone that the running service takes at once', async () => {
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

  it('adds a key to an account that is there', async () => {
    const [one, other] = [await create('--email', 'two@example.com'), await create('--email', 'TWO@example.com')];
    expect(one).not.toBe(other);
    expect((await keys('list', '--email', 'two@example.com')).stdout.trim().split('\n')).toHaveLength(3);
  });

  it('does not change the plan of an account that is there', async () => {
    await create('--email', 'stays@example.com', '--plan', 'free');
    const { code, stdout, stderr } = await keys('create', '--email', 'stays@example.com', '--plan', 'pro');
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('free (60 a minute, 1000 a day)');
  });
});

describe('keys revoke and rotate', () => {
  it('a revoked key is refused', async () => {
    const key = await create('--email', 'revoked@example.com');
    expect(await keys('revoke', await idOf(key))).toMatchObject({ code: 0 });
    expect(await answerTo(key)).toBe('revoked_api_key');
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
    const { stdout } = await keys('rotate', await idOf(key), '--overlap', '0');
    expect(await answerTo(stdout.trim())).toBe('ok');
    expect(await answerTo(key)).toBe('expired_api_key');
  });

  it.each(['revoke', 'rotate'])('%s of a key that is not there says so and exits with 1', async (command) => {
    const { code, stdout, stderr } = await keys(command, '999999');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('999999');
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

it('works on a data folder while no service runs', async () => {
  const folder = await temporaryFolder();
  const { code, stdout } = await run(KEYS, ['create', '--email', 'dev@example.com'], { DATA_DIR: folder.path });
  expect(code).toBe(0);
  const list = await run(KEYS, ['list'], { DATA_DIR: folder.path });
  expect(list.stdout).toContain(`…${stdout.trim().slice(-4)}`);
  await folder.remove();
});
