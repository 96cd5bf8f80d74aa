import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type ApiKeyId,
  DAY,
  HOUR,
  INT64_MAX,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  MOST_REFUSALS,
  type Ports,
  startOf,
} from '@adoption-store/domain';
import { requestRecordsSuite } from '@adoption-store/domain/testing';
import { ask, DatabaseGate, until } from '@adoption-store/test-support';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

const NOON = instant(Date.UTC(2026, 0, 1, 12));

requestRecordsSuite(framework, 'PostgreSQL', openPostgres);

/** Closes what the test has opened, the last first. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function newKey({ accounts, apiKeys }: Ports, number = 0): Promise<KeyRequester> {
  const plan = { name: 'free' } as const;
  const { id } = await accounts.open({ email: 'dev@example.com', plan, scopes: undefined, createdAt: NOON });
  const hash = String(number).padStart(64, '0');
  const about = { accountId: id, hash, ending: 'wxyz', name: 'till', scopes: undefined };
  return { accountId: id, keyId: (await apiKeys.add({ ...about, createdAt: NOON, expiresAt: undefined })).id };
}

async function openWithKey() {
  const postgres = await openPostgres();
  opened.push(postgres.close);
  return { ...postgres, records: postgres.ports.requestRecords, key: await newKey(postgres.ports) };
}

const openInstances = (databaseUrl: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => openInfrastructure({ databaseUrl, poolSize: 2 })));

describe('usage of several instances', () => {
  it('is added up, and written when they close', async () => {
    const { ports, url, records, key } = await openWithKey();
    const instances = await openInstances(url, 4);
    for (const [index, instance] of instances.entries()) {
      const record = (about: KeyRequester, isAdmitted: boolean) => {
        instance.ports.requestRecords.record({ ...about, at: NOON, isUse: true, isAdmitted });
      };
      for (let sent = 0; sent < 100 + index; sent += 1) record(key, true);
      for (let sent = 0; sent < index; sent += 1) record(key, false);
      record({ ...key, keyId: INT64_MAX as ApiKeyId }, true);
    }
    await Promise.all(instances.map((instance) => instance.close()));
    const sum = { admitted: 406, refused: 6 };
    const day = startOf(DAY, NOON);
    expect(await records.listUsage(key.accountId, 'day', day)).toEqual([{ start: day, ...sum }]);
    expect(await records.listUsage(key.accountId, 'hour', day)).toEqual([{ start: NOON, ...sum }]);
    expect(await records.sumUsageByKey(key.accountId, 'day', day, [key.keyId])).toEqual([{ keyId: key.keyId, ...sum }]);
    expect(await ports.apiKeys.findById(key.keyId)).toMatchObject({ key: { lastUsedAt: NOON } });
  });
});

describe('the last use of a key', () => {
  it('has one new version of its row for each minute, however many instances report it, and in which order', async () => {
    const { ports, url } = await openWithKey();
    await ask(
      url,
      `CREATE TABLE versions (last_used_at timestamptz);
       CREATE FUNCTION count_version() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO versions VALUES (NEW.last_used_at); RETURN NULL; END $$;
       CREATE TRIGGER counted AFTER UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION count_version();`,
    );
    const keys: KeyRequester[] = [];
    for (let made = 1; made <= 30; made += 1) keys.push(await newKey(ports, made));
    const report = async (minutes: readonly number[]) => {
      const instances = await openInstances(url, minutes.length);
      for (const [index, minute] of minutes.entries()) {
        for (const key of keys) {
          const at = later(NOON, minute * MINUTE);
          instances[index]?.ports.requestRecords.record({ ...key, at, isUse: true });
        }
      }
      await Promise.all(instances.map((instance) => instance.close()));
    };
    await report([0, 0, 0, 0, 0]);
    await report([-1]);
    await report([1]);
    await report([0]);
    const text = 'SELECT last_used_at AS at, count(*)::int FROM versions GROUP BY last_used_at ORDER BY last_used_at';
    expect(await ask(url, text)).toEqual([
      { at: new Date(NOON), count: keys.length },
      { at: new Date(later(NOON, MINUTE)), count: keys.length },
    ]);
  });
});

describe('refusals', () => {
  const refuse = ({ requestRecords }: Ports, key: KeyRequester, requestId: string, milliseconds: number) => {
    const refusal = { operation: 'GET /v1/pets', code: 'rate_limited', requestId };
    requestRecords.record({ ...key, at: later(NOON, milliseconds), isUse: true, refusal });
  };
  const rows = (url: string) => ask(url, 'SELECT count(*)::integer AS count FROM refusals');

  it('of several instances are one log of 100, and are written when they close', async () => {
    const { url, records, key } = await openWithKey();
    const instances = await openInstances(url, 3);
    for (let request = 0; request < 1_000; request += 1) {
      const instance = instances[request % 3];
      if (instance !== undefined) refuse(instance.ports, key, `request-${request}`, request);
    }
    // One after the other: concurrent ones don't see each other's rows, and may leave some for the next to delete.
    for (const instance of instances) await instance.close();
    const listed = await records.listRefusals(key.accountId);
    expect(listed).toHaveLength(MOST_REFUSALS);
    expect(listed[0]).toEqual({
      ...{ at: later(NOON, 998), keyId: key.keyId, operation: 'GET /v1/pets', code: 'rate_limited' },
      ...{ requestId: 'request-998', key: { name: 'till', ending: 'wxyz' } },
    });
    expect(listed).toEqual(listed.toSorted((one, other) => other.at - one.at));
    expect(await rows(url)).toEqual([{ count: MOST_REFUSALS }]);
  });

  it('of instances that write at the same time never deadlock, and the next write leaves 100', async () => {
    const { ports, url, records, key } = await openWithKey();
    const instances = await openInstances(url, 4);
    for (const [index, instance] of instances.entries()) {
      for (let request = 0; request < 100; request += 1) {
        refuse(instance.ports, key, `request-${index}-${request}`, request);
      }
    }
    await Promise.all(instances.map((instance) => instance.close()));
    expect(await records.listRefusals(key.accountId)).toHaveLength(MOST_REFUSALS);
    refuse(ports, key, 'the next', 1_000);
    await until(async () => (await records.listRefusals(key.accountId, 'the next')).length === 1);
    expect(await rows(url)).toEqual([{ count: MOST_REFUSALS }]);
    expect((await records.listRefusals(key.accountId))[0]?.requestId).toBe('the next');
  });

  it('outlast a database that goes away and comes back, as usage does', async () => {
    const { url, records, key } = await openWithKey();
    const gate = await DatabaseGate.open(url);
    opened.push(() => {
      gate.shut();
    });
    const instance = await openInfrastructure({ databaseUrl: gate.url, poolSize: 2 });
    opened.push(instance.close);
    gate.freeze();
    for (let request = 0; request < 150; request += 1) {
      refuse(instance.ports, key, `request-${request}`, request);
      instance.ports.requestRecords.record({ ...key, at: NOON, isUse: true, isAdmitted: true });
    }
    // Longer than a write may take.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(await records.listRefusals(key.accountId)).toEqual([]);
    gate.thaw();
    await until(async () => (await records.listRefusals(key.accountId)).length >= MOST_REFUSALS);
    expect((await records.listRefusals(key.accountId)).map(({ requestId }) => requestId)).toEqual(
      Array.from({ length: MOST_REFUSALS }, (_, index) => `request-${149 - index}`),
    );
    expect(await records.listUsage(key.accountId, 'hour', later(NOON, -HOUR))).toMatchObject([{ start: NOON }]);
    expect(instance.read().droppedRefusals).toBe(0);
  });
});

it('a process that counts nothing tells the minute, the day and bans that another counts, and writes nothing over them', async () => {
  const { ports, url, key: requester } = await openWithKey();
  const following = await openInfrastructure({ databaseUrl: url, poolSize: 2 });
  const now = ports.clock.now();
  const request = { requester, limits: { perMinute: 5, perDay: 9 }, now };
  const look = () => following.ports.requests.look(request);
  expect(await look()).toMatchObject({ outcome: 'admitted', minute: { used: 0 }, day: { used: 0 } });
  for (let sent = 0; sent < 3; sent += 1) await ports.requests.count(request);
  await until(async () => (await look()).minute.used === 3);
  expect(await look()).toEqual(await ports.requests.look(request));
  for (let sent = 0; sent < 60; sent += 1) await ports.requests.count(request);
  await until(async () => (await look()).outcome === 'key_banned');
  expect(await look()).toEqual(await ports.requests.look(request));
  await following.close();
  expect(await ports.requests.look(request)).toMatchObject({ day: { used: 5 } });
});
