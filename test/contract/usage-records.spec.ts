import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DAY, INT64_MAX, type ApiKeyId, instant, later, type Ports, type UsedKey } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { until } from '@adoption-store/test-support';
import { type Adapters, everyAdapter, openPostgres } from './adapters.js';

const DAY_ONE = instant(Date.UTC(2026, 0, 1));
const NOON = later(DAY_ONE, DAY / 2);

async function newKey({ accounts, apiKeys }: Ports, accountId?: UsedKey['accountId']): Promise<UsedKey> {
  const newAccount = { email: `${randomUUID()}@example.com`, plan: { name: 'free' as const }, createdAt: NOON };
  const id = accountId ?? (await accounts.open(newAccount)).id;
  const hash = createHash('sha256').update(randomUUID()).digest('hex');
  const about = { accountId: id, hash, ending: 'wxyz', name: undefined, createdAt: NOON, expiresAt: undefined };
  return { accountId: id, keyId: (await apiKeys.add(about)).id };
}

function record({ usage }: Ports, key: UsedKey, admitted: number, refused: number, at = NOON): void {
  for (let count = 0; count < admitted; count += 1) usage.record(key, true, at);
  for (let count = 0; count < refused; count += 1) usage.record(key, false, at);
}

describe.each(everyAdapter)('usage records (%s)', (_name, open) => {
  let adapters: Adapters;
  let ports: Ports;
  beforeAll(async () => {
    adapters = await open();
    ports = adapters.ports;
  });
  afterAll(() => adapters.close());

  it('add up by day and key, within seconds, and are the account’s own', async () => {
    const one = await newKey(ports);
    const [other, strangers] = [await newKey(ports, one.accountId), await newKey(ports)];
    record(ports, one, 3, 2);
    record(ports, strangers, 1, 0);
    record(ports, one, 0, 1, later(DAY_ONE, DAY));
    record(ports, other, 1, 0);
    record(ports, one, 1, 0, later(DAY_ONE, DAY - 1));
    const expected = [
      { day: DAY_ONE, keyId: one.keyId, admitted: 4, refused: 2 },
      { day: DAY_ONE, keyId: other.keyId, admitted: 1, refused: 0 },
      { day: later(DAY_ONE, DAY), keyId: one.keyId, admitted: 0, refused: 1 },
    ];
    await until(async () => (await ports.usage.list(one.accountId, DAY_ONE)).length === expected.length);
    expect(await ports.usage.list(one.accountId, DAY_ONE)).toEqual(expected);
    expect(await ports.usage.list(one.accountId, later(DAY_ONE, DAY))).toEqual(expected.slice(2));
    record(ports, one, 2, 0);
    await until(async () => (await ports.usage.list(one.accountId, DAY_ONE))[0]?.admitted === 6);
  });

  it('older than a day are forgotten, the others not', async () => {
    const key = await newKey(ports);
    for (const days of [-20, -19, -10]) record(ports, key, 1, 0, later(DAY_ONE, days * DAY));
    await until(async () => (await ports.usage.list(key.accountId, instant(0))).length === 3);
    expect(await ports.usage.forget(later(DAY_ONE, -10 * DAY))).toBe(2);
    expect(await ports.usage.forget(later(DAY_ONE, -10 * DAY))).toBe(0);
    expect(await ports.usage.list(key.accountId, instant(0))).toMatchObject([{ day: later(DAY_ONE, -10 * DAY) }]);
  });
});

describe('usage records of several instances', () => {
  it('add up to the last one, and are written when they close', async () => {
    const postgres = await openPostgres();
    const { ports, url } = postgres;
    const key = await newKey(ports);
    const unknown = { ...key, keyId: INT64_MAX as ApiKeyId };
    const config = { databaseUrl: url, poolSize: 2 };
    const instances = await Promise.all(Array.from({ length: 4 }, () => openInfrastructure(config)));
    for (const [index, instance] of instances.entries()) {
      record(instance.ports, key, 100 + index, index);
      record(instance.ports, unknown, 1, 0);
    }
    await Promise.all(instances.map((instance) => instance.close()));
    expect(await ports.usage.list(key.accountId, DAY_ONE)).toEqual([
      { day: DAY_ONE, keyId: key.keyId, admitted: 406, refused: 6 },
    ]);
    await postgres.close();
  });
});

it('a process that counts nothing tells the minute, the day and bans that another counts, and writes nothing over them', async () => {
  const postgres = await openPostgres();
  const { ports, url } = postgres;
  const following = await openInfrastructure({
    databaseUrl: url,
    poolSize: 2,
  });
  const requester = await newKey(ports);
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
  await postgres.close();
});
