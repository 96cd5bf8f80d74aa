import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Instant, instant, later, MINUTE, SECOND, startOf } from '@adoption-store/domain';
import {
  createDatabase,
  KEYS,
  ProcessClock,
  run,
  type Running,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { startService } from '../support/faults.js';

const START: Instant = instant(Date.UTC(2030, 0, 1, 12, 34, 56, 789));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
const started: Running[] = [];

beforeAll(async () => {
  [database, folder] = await Promise.all([createDatabase(), temporaryFolder()]);
});

afterAll(async () => {
  await Promise.all(started.map((service) => service.stop()));
  await Promise.all([database.drop(), folder.remove()]);
});

it('a key’s last use is kept to the minute, through kill -9 and a normal stop', async () => {
  const clock = new ProcessClock(folder.path, START);
  const settings = { DATABASE_URL: database.url };
  const create = async (email: string) => (await run(KEYS, ['create', '--email', email], settings)).stdout.trim();
  const [used, unused] = [await create('used@example.com'), await create('unused@example.com')];
  const start = async () => {
    const { service, origin } = await startService({ ...settings, ...clock.environment });
    started.push(service);
    const use = async (path = '/v1/pets') =>
      (await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${used}` } })).status;
    return { service, use };
  };
  /** The last use of both keys in the operator's list. */
  const lastUses = async () => {
    const { stdout } = await run(KEYS, ['list'], settings);
    const lastUseOf = (key: string) =>
      stdout
        .split('\n')
        .find((line) => line.includes(`…${key.slice(-4)} `))
        ?.split(/ {2,}/)
        .at(7);
    return { used: lastUseOf(used), unused: lastUseOf(unused) };
  };
  const at = (time: Instant) => ({ used: new Date(startOf(MINUTE, time)).toISOString(), unused: 'never' });

  const first = await start();
  expect(await lastUses()).toEqual({ used: 'never', unused: 'never' });
  expect(await first.use()).toBe(200);
  await until(async () => (await lastUses()).used !== 'never', { what: 'the first use in the list' });
  expect(await lastUses()).toEqual(at(START));
  await first.service.stop('SIGKILL');

  const next = later(START, 4 * MINUTE - 50 * SECOND);
  clock.set(next);
  const second = await start();
  expect(await lastUses()).toEqual(at(START));
  // An answered request is a use, whatever its status.
  expect(await second.use('/v1/pets/999999')).toBe(404);
  await second.service.stop();
  expect(await lastUses()).toEqual(at(next));

  // A clock that is behind doesn't lower the time.
  clock.set(START);
  const third = await start();
  expect(await third.use()).toBe(200);
  await third.service.stop();
  expect(await lastUses()).toEqual(at(next));
});
