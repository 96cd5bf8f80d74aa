import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { DAY, INT64_MAX, type ApiKeyId, instant, later, type Ports, type UsedKey } from '@adoption-store/domain';
import { usageRecordsSuite } from '@adoption-store/domain/testing';
import { until } from '@adoption-store/test-support';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

const DAY_ONE = instant(Date.UTC(2026, 0, 1));
const NOON = later(DAY_ONE, DAY / 2);

async function newKey({ accounts, apiKeys }: Ports): Promise<UsedKey> {
  const newAccount = {
    email: `${randomUUID()}@example.com`,
    plan: { name: 'free' as const },
    scopes: undefined,
    createdAt: NOON,
  };
  const { id } = await accounts.open(newAccount);
  const hash = createHash('sha256').update(randomUUID()).digest('hex');
  const about = {
    accountId: id,
    hash,
    ending: 'wxyz',
    name: undefined,
    scopes: undefined,
    createdAt: NOON,
    expiresAt: undefined,
  };
  return { accountId: id, keyId: (await apiKeys.add(about)).id };
}

function record({ usage }: Ports, key: UsedKey, admitted: number, refused: number, at = NOON): void {
  for (let count = 0; count < admitted; count += 1) usage.record(key, true, at);
  for (let count = 0; count < refused; count += 1) usage.record(key, false, at);
}

usageRecordsSuite(framework, 'PostgreSQL', openPostgres);

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
    const sum = { admitted: 406, refused: 6 };
    expect(await ports.usage.list(key.accountId, 'day', DAY_ONE)).toEqual([{ start: DAY_ONE, ...sum }]);
    expect(await ports.usage.list(key.accountId, 'hour', DAY_ONE)).toEqual([{ start: NOON, ...sum }]);
    expect(await ports.usage.sumByKey(key.accountId, 'day', DAY_ONE, [key.keyId])).toEqual([
      { keyId: key.keyId, ...sum },
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
