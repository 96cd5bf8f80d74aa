import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DAY, HOUR, MINUTE, SECOND } from '@adoption-store/domain';
import {
  ask,
  createDatabase,
  KEYS,
  ProcessClock,
  redisFor,
  run,
  type Running,
  temporaryFolder,
  type TestDatabase,
  type TestRedis,
  until,
} from '@adoption-store/test-support';
import { decidedAlone } from '../support/decided-alone.js';
import { startService } from '../support/faults.js';

const LIMIT = 10;

interface Instance {
  readonly service: Running;
  readonly metrics: string;
  /** Sends a request while the instance's clock is ahead of the real time by that many milliseconds. */
  readonly send: (key: string, ahead: number) => Promise<Answered>;
}

interface Answered {
  readonly status: number;
  /** Milliseconds from the real time until the shown window ends. */
  readonly resetsIn: number;
}

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const started: Running[] = [];

beforeAll(async () => {
  [database, folder] = await Promise.all([createDatabase(), temporaryFolder()]);
});
afterAll(async () => {
  await Promise.all(started.map((service) => service.stop()));
  await Promise.all([database.drop(), folder.remove()]);
});

async function startInstance(name: string, settings: Readonly<Record<string, string>> = {}): Promise<Instance> {
  const path = join(folder.path, name);
  await mkdir(path);
  const clock = new ProcessClock(path, Date.now());
  const bans = { BAN_REFUSALS: '1000000' };
  const { service, origin } = await startService({
    ...{ DATABASE_URL: database.url, ...bans, ...settings, ...clock.environment },
  });
  started.push(service);
  const metrics = (await service.prints(/Metrics {2}(\S+)/))[1] ?? '';
  const send = async (key: string, ahead: number) => {
    clock.set(Date.now() + ahead);
    // An unknown path is counted too.
    const { status, headers } = await fetch(`${origin}/v1/unknown`, { headers: { authorization: `Bearer ${key}` } });
    return { status, resetsIn: Number(headers.get('x-ratelimit-reset')) * SECOND - Date.now() };
  };
  return { service, metrics, send };
}

async function newKey(name: string): Promise<string> {
  const plan = ['--plan', 'enterprise', '--per-minute', String(LIMIT), '--per-day', '100000'];
  const email = `${name}@example.com`;
  return (await run(KEYS, ['create', '--email', email, ...plan], { DATABASE_URL: database.url })).stdout.trim();
}

/** Sends to the instances in turn, each with the next of its clock's steps. */
async function sendInTurn(instances: readonly Instance[], key: string, rounds: readonly (readonly number[])[]) {
  const answers: Answered[] = [];
  for (const offsets of rounds) {
    for (const [index, instance] of instances.entries()) answers.push(await instance.send(key, offsets[index] ?? 0));
  }
  return answers;
}

const minuteNow = () => Math.floor(Date.now() / MINUTE);
const admittedOf = (answers: readonly Answered[]) => answers.filter(({ status }) => status === 404).length;
const longestRefusal = (answers: readonly Answered[]) =>
  Math.max(0, ...answers.filter(({ status }) => status === 429).map(({ resetsIn }) => resetsIn));

const openRedis = redisFor('instances with wrong clocks');
(openRedis ? describe : describe.skip)('three instances on one Redis, whose clocks step by an hour,', () => {
  let redis: TestRedis | undefined;
  let instances: Instance[];
  beforeAll(async () => {
    redis = await openRedis?.();
    const settings = { REDIS_URL: redis?.url ?? '' };
    instances = await Promise.all(['a', 'b', 'c'].map((name) => startInstance(name, settings)));
  });
  afterAll(() => redis?.close());

  /** Requests that an instance decided without Redis. Each may be admitted beyond the limit. */
  const alone = async () =>
    (await Promise.all(instances.map(({ metrics }) => decidedAlone(metrics)))).reduce((sum, count) => sum + count);

  it('admit one limit in a minute, and refuse no longer than to its end, during the steps and after them', async () => {
    const key = await newKey('stepping');
    const steps = Array.from({ length: 12 }, (_, round) => [
      0,
      round % 2 === 0 ? HOUR : 0,
      [-HOUR, HOUR, 0, DAY][round % 4] ?? 0,
    ]);
    const corrected = Array.from({ length: 8 }, () => [0, 0, 0]);
    const [before, startedAt] = [await alone(), minuteNow()];
    const answers = await sendInTurn(instances, key, [...steps, ...corrected]);
    const minutes = 1 + minuteNow() - startedAt;
    expect(admittedOf(answers)).toBeGreaterThanOrEqual(LIMIT);
    expect(admittedOf(answers)).toBeLessThanOrEqual(minutes * LIMIT + (await alone()) - before);
    expect(answers.length - admittedOf(answers)).toBe(answers.filter(({ status }) => status === 429).length);
    // The header has whole seconds.
    expect(longestRefusal(answers)).toBeLessThanOrEqual(MINUTE + SECOND);
  });

  it('let no revoked key in, wherever their clocks are', async () => {
    const key = await newKey('revoked');
    const everywhere = [
      [0, HOUR, -HOUR],
      [HOUR, -HOUR, 0],
      [-DAY, 0, DAY],
    ];
    expect(admittedOf(await sendInTurn(instances, key, [[0, HOUR, -HOUR]]))).toBe(3);
    // By a clock that is ahead, as an instance's may be.
    await ask(
      database.url,
      `UPDATE api_keys SET revoked_at = now() + interval '1 hour' FROM accounts
       WHERE accounts.id = account_id AND email = 'revoked@example.com'`,
    );
    await until(async () => {
      const answers = await sendInTurn(instances, key, [[0, HOUR, -HOUR]]);
      return answers.every(({ status }) => status === 401);
    });
    const answers = await sendInTurn(instances, key, [...everywhere, ...everywhere]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  });
});

it('an instance without Redis admits again at once after its clock was an hour ahead, one limit in a minute', async () => {
  const instance = await startInstance('alone');
  const key = await newKey('alone');
  const sendMany = (ahead: number) => sendInTurn([instance], key, Array<number[]>(LIMIT + 5).fill([ahead]));
  expect(admittedOf(await sendMany(HOUR))).toBeGreaterThanOrEqual(LIMIT);
  const startedAt = minuteNow();
  const answers = await sendMany(0);
  expect(admittedOf(answers)).toBeGreaterThanOrEqual(LIMIT);
  expect(admittedOf(answers)).toBeLessThanOrEqual((1 + minuteNow() - startedAt) * LIMIT);
  expect(longestRefusal(answers)).toBeLessThanOrEqual(MINUTE + SECOND);
});
