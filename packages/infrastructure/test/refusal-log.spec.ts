import { afterEach, expect, it } from '@jest/globals';
import { instant, later, MOST_REFUSALS } from '@adoption-store/domain';
import { refusalLogSuite } from '@adoption-store/domain/testing';
import { ask, DatabaseGate, until } from '@adoption-store/test-support';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

const NOON = instant(Date.UTC(2026, 0, 1, 12));

refusalLogSuite(framework, 'PostgreSQL', openPostgres);

/** Closes what the test has opened, the last first. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function openWithKey() {
  const postgres = await openPostgres();
  opened.push(postgres.close);
  const { accounts, apiKeys } = postgres.ports;
  const plan = { name: 'free' as const };
  const { id: accountId } = await accounts.open({
    email: 'dev@example.com',
    plan,
    scopes: undefined,
    createdAt: NOON,
  });
  const { id: keyId } = await apiKeys.add({
    ...{ accountId, hash: '0'.repeat(64), ending: 'wxyz', name: 'till', scopes: undefined },
    ...{ createdAt: NOON, expiresAt: undefined },
  });
  const refusal = (requestId: string, milliseconds: number) => ({
    ...{ at: later(NOON, milliseconds), keyId, operation: 'GET /v1/pets', code: 'rate_limited', requestId },
  });
  return { ...postgres, accountId, refusal };
}

it('refusals of several instances are one log of 100, and are written when they close', async () => {
  const { ports, url, accountId, refusal } = await openWithKey();
  const instances = await Promise.all(
    Array.from({ length: 3 }, () => openInfrastructure({ databaseUrl: url, poolSize: 2 })),
  );
  for (let request = 0; request < 1_000; request += 1) {
    instances[request % 3]?.ports.refusals.record(accountId, refusal(`request-${request}`, request));
  }
  // One after the other: concurrent ones don't see each other's rows, and may leave some for the next to delete.
  for (const instance of instances) await instance.close();
  const listed = await ports.refusals.list(accountId);
  expect(listed).toHaveLength(MOST_REFUSALS);
  expect(listed[0]).toEqual({ ...refusal('request-998', 998), key: { name: 'till', ending: 'wxyz' } });
  expect(listed).toEqual(listed.toSorted((one, other) => other.at - one.at));
  expect(await ask(url, 'SELECT count(*)::integer AS count FROM refusals')).toEqual([{ count: MOST_REFUSALS }]);
});

it('refusals of instances that write at the same time never deadlock, and the next write leaves 100', async () => {
  const { ports, url, accountId, refusal } = await openWithKey();
  const instances = await Promise.all(
    Array.from({ length: 4 }, () => openInfrastructure({ databaseUrl: url, poolSize: 2 })),
  );
  for (const [index, instance] of instances.entries()) {
    for (let request = 0; request < 100; request += 1) {
      instance.ports.refusals.record(accountId, refusal(`request-${index}-${request}`, request));
    }
  }
  await Promise.all(instances.map((instance) => instance.close()));
  expect(await ports.refusals.list(accountId)).toHaveLength(MOST_REFUSALS);
  ports.refusals.record(accountId, refusal('the next', 1_000));
  await until(async () => (await ports.refusals.list(accountId, 'the next')).length === 1);
  expect(await ask(url, 'SELECT count(*)::integer AS count FROM refusals')).toEqual([{ count: MOST_REFUSALS }]);
  expect((await ports.refusals.list(accountId))[0]?.requestId).toBe('the next');
});

it('refusals outlast a database that goes away and comes back', async () => {
  const { ports, url, accountId, refusal } = await openWithKey();
  const gate = await DatabaseGate.open(url);
  opened.push(() => {
    gate.shut();
  });
  const instance = await openInfrastructure({ databaseUrl: gate.url, poolSize: 2 });
  opened.push(instance.close);
  gate.freeze();
  for (let request = 0; request < 150; request += 1) {
    instance.ports.refusals.record(accountId, refusal(`request-${request}`, request));
  }
  // Longer than a write may take.
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(await ports.refusals.list(accountId)).toEqual([]);
  gate.thaw();
  await until(async () => (await ports.refusals.list(accountId)).length >= MOST_REFUSALS);
  expect((await ports.refusals.list(accountId)).map(({ requestId }) => requestId)).toEqual(
    Array.from({ length: MOST_REFUSALS }, (_, index) => `request-${149 - index}`),
  );
  expect(instance.read().droppedRefusals).toBe(0);
});
