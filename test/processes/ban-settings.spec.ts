import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { HOUR, type Instant, instant, later, SECOND } from '@adoption-store/domain';
import {
  createDatabase,
  KEYS,
  ProcessClock,
  run,
  type Running,
  temporaryFolder,
  type TestDatabase,
} from '@adoption-store/test-support';
import { startService } from '../support/faults.js';

const NOON: Instant = instant(Date.UTC(2030, 0, 1, 12));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let service: Running | undefined;

beforeAll(async () => {
  [database, folder] = await Promise.all([createDatabase(), temporaryFolder()]);
});

afterAll(async () => {
  await service?.stop();
  await Promise.all([database.drop(), folder.remove()]);
});

it('BAN_REFUSALS, BAN_SECONDS and BAN_SECONDS_MAX set when the API bans a key, and for how long', async () => {
  const clock = new ProcessClock(folder.path, NOON);
  const settings = { DATABASE_URL: database.url };
  const plan = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '1'];
  const created = await run(KEYS, ['create', '--email', 'dev@example.com', ...plan], settings);
  const headers = { authorization: `Bearer ${created.stdout.trim()}` };
  const bans = { BAN_REFUSALS: '4', BAN_SECONDS: '70', BAN_SECONDS_MAX: '150' };
  const started = await startService({ ...settings, ...bans, ...clock.environment });
  service = started.service;

  /** The codes of the responses, with the seconds to wait if the key is banned. */
  const answers = async (count: number) => {
    const all = [];
    for (let sent = 0; sent < count; sent += 1) {
      const response = await fetch(`${started.origin}/v1/pets`, { headers });
      const { code = 'ok' } = (await response.json()) as { code?: string };
      all.push(code === 'key_banned' ? `${code} for ${response.headers.get('retry-after') ?? ''}` : code);
    }
    return all;
  };
  const refused = Array<string>(3).fill('daily_quota_exceeded');
  expect(await answers(5)).toEqual(['ok', ...refused, 'key_banned for 70']);
  clock.set(later(NOON, 69 * SECOND));
  expect(await answers(1)).toEqual(['key_banned for 1']);
  clock.set(later(NOON, 70 * SECOND));
  expect(await answers(4)).toEqual([...refused, 'key_banned for 140']);
  clock.set(later(NOON, HOUR));
  // Doubled, it would be 280.
  expect(await answers(4)).toEqual([...refused, 'key_banned for 150']);
});
