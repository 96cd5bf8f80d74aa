import { describe, expect, it } from '@jest/globals';
import { KEYS, run, temporaryFolder, until } from '@adoption-store/test-support';
import { useCommands, useRunningApi } from './support/commands.js';

const commands = useCommands();
const { keys, list, create, idOf } = commands;
const service = useRunningApi(commands);
const { answerTo, becomes } = service;

const DAY = 24 * 60 * 60 * 1_000;

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

  it('creates a key with the given scopes, which a rotation keeps, or with all', async () => {
    await create('--email', 'scopes@example.com');
    await create('--email', 'scopes@example.com', '--scopes', 'all');
    const writes = await create('--email', 'scopes@example.com', '--scopes', 'orders:write,pets:write');
    expect(await answerTo(writes)).toBe('insufficient_scope');
    await keys('rotate', await idOf(writes));
    const scopes = (await list('--email', 'scopes@example.com')).map(({ SCOPES }) => SCOPES);
    expect(scopes).toEqual(['all', 'all', 'pets:write,orders:write', 'pets:write,orders:write']);
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

describe('keys list --deprecated', () => {
  it('shows the keys that call a deprecated operation, and when they last did', async () => {
    const [one, other] = [await create('--email', 'old@example.com'), await create('--email', 'new@example.com')];
    expect(await answerTo(one)).toBe('ok');
    expect(await answerTo(other)).toBe('ok');
    expect((await keys('list', '--deprecated', '--email', 'new@example.com')).stdout).not.toContain('…');
    await fetch(`${service.origin}/v1/pets/1`, { headers: { authorization: `Bearer ${one}` } });
    const shown = async () =>
      (await list('--deprecated')).map(({ ACCOUNT, KEY, DEPRECATED }) => ({ ACCOUNT, KEY, DEPRECATED }));
    await until(async () => (await shown()).length > 0);
    expect(await shown()).toEqual([
      {
        ACCOUNT: 'old@example.com',
        KEY: `…${one.slice(-4)}`,
        DEPRECATED: expect.stringMatching(/^GET \/v1\/pets\/\{petId\} at \d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/),
      },
    ]);
  });
});

describe('keys revoke and rotate', () => {
  it('a revoked key is refused within a second by a service that has just accepted it', async () => {
    const key = await create('--email', 'revoked@example.com');
    expect(await answerTo(key)).toBe('ok');
    expect(await keys('revoke', await idOf(key))).toMatchObject({ code: 0 });
    await becomes(key, 'revoked_api_key');
  });

  it('a disabled key is refused within a second, and shown as disabled, until it is enabled', async () => {
    const key = await create('--email', 'disabled@example.com');
    expect(await answerTo(key)).toBe('ok');
    expect(await keys('disable', await idOf(key))).toMatchObject({ code: 0 });
    await becomes(key, 'disabled_api_key');
    expect((await list('--email', 'disabled@example.com'))[0]).toMatchObject({ STATE: 'disabled' });
    expect(await keys('enable', await idOf(key))).toMatchObject({ code: 0 });
    await becomes(key, 'ok');
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

  it.each(['disable', 'enable', 'revoke', 'rotate'])(
    '%s of an unknown key says so and exits with 1',
    async (command) => {
      const { code, stdout, stderr } = await keys(command, '999999');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('999999');
    },
  );
});

it('works on a data folder while no service runs', async () => {
  const folder = await temporaryFolder();
  const { code, stdout } = await run(KEYS, ['create', '--email', 'dev@example.com'], { DATA_DIR: folder.path });
  expect(code).toBe(0);
  const list = await run(KEYS, ['list'], { DATA_DIR: folder.path });
  expect(list.stdout).toContain(`…${stdout.trim().slice(-4)}`);
  await folder.remove();
});
