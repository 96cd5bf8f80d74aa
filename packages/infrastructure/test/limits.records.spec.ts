import {
  type AccountId,
  type ApiKeyId,
  HOUR,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  MOST_FAILED_REQUESTS,
  type Ports,
} from '@adoption-store/domain';
import { requestRecordsSuite, testPolicy } from '@adoption-store/domain/testing';
import { ask, until } from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { PostgresRequestRecords } from '../src/limits/postgres-request-records.js';
import { MOST_HELD, MOST_HELD_FAILED_REQUESTS, MOST_KEYS } from '../src/limits/unwritten-requests.js';
import { addKey, closedAfterEach, openPostgres } from './databases.js';
import { framework } from './framework.js';

const NOON = instant(Date.UTC(2026, 0, 1, 12));

requestRecordsSuite(framework, 'PostgreSQL', openPostgres);

const opened = closedAfterEach();

async function openWithKey() {
  const postgres = await openPostgres();
  opened.push(postgres.close);
  return { ...postgres, records: postgres.ports.requestRecords, key: await addKey(postgres.ports) };
}

describe('refusals', () => {
  const refuse = ({ requestRecords }: Ports, key: KeyRequester, requestId: string, milliseconds: number) => {
    const failedRequest = { operation: 'GET /v1/pets', code: 'rate_limited', requestId };
    requestRecords.record({ ...key, at: later(NOON, milliseconds), isUse: true, failedRequest });
  };
  const rows = (url: string) => ask(url, 'SELECT count(*)::integer AS count FROM refusals');

  it('of instances that write at the same time never deadlock, and the next write leaves 100', async () => {
    const { ports, url, records, key } = await openWithKey();
    const open = () => openInfrastructure({ policy: testPolicy(), databaseUrl: url, poolSize: 2 });
    const instances = await Promise.all(Array.from({ length: 4 }, open));
    for (const [index, instance] of instances.entries()) {
      for (let request = 0; request < 100; request += 1) {
        refuse(instance.ports, key, `request-${index}-${request}`, request);
      }
    }
    await Promise.all(instances.map((instance) => instance.close()));
    expect(await records.listFailedRequests(key.accountId)).toHaveLength(MOST_FAILED_REQUESTS);
    refuse(ports, key, 'the next', 1_000);
    await until(async () => (await records.listFailedRequests(key.accountId, 'the next')).length === 1);
    expect(await rows(url)).toEqual([{ count: MOST_FAILED_REQUESTS }]);
    expect((await records.listFailedRequests(key.accountId))[0]?.requestId).toBe('the next');
  });
});

it('a process that counts nothing tells the minute, the day and bans that another counts, and writes nothing over them', async () => {
  const { ports, url, key: requester } = await openWithKey();
  const following = await openInfrastructure({ policy: testPolicy(), databaseUrl: url, poolSize: 2 });
  const now = ports.clock.now();
  const request = { requester, limits: { perMinute: 5, perDay: 9 }, now };
  const look = () => following.ports.requests.peek(request);
  expect(await look()).toMatchObject({ outcome: 'admitted', minute: { used: 0 }, day: { used: 0 } });
  for (let sent = 0; sent < 3; sent += 1) await ports.requests.count(request);
  await until(async () => (await look()).minute.used === 3);
  expect(await look()).toEqual(await ports.requests.peek(request));
  for (let sent = 0; sent < 60; sent += 1) await ports.requests.count(request);
  await until(async () => (await look()).outcome === 'key_banned');
  expect(await look()).toEqual(await ports.requests.peek(request));
  await following.close();
  expect(await ports.requests.peek(request)).toMatchObject({ day: { used: 5 } });
});

describe('the waiting records', () => {
  const NOON = Date.UTC(2026, 0, 1, 12);
  const KINDS = {
    uses: 'api key uses write',
    operations: 'api key operations write',
    usage: 'usage add by hour and day',
    refusals: 'refusals add',
  };
  type Kind = keyof typeof KINDS;

  /** The statements that succeeded, with their rows as texts. */
  let written: { readonly kind: Kind; readonly rows: readonly string[] }[];
  /** The ids of the refusals in all statements, also in failed ones. */
  let sentIds: unknown[];
  /** The kinds whose statements fail. */
  let failing: readonly Kind[];
  let records: PostgresRequestRecords;

  beforeEach(() => {
    jest.useFakeTimers();
    [written, sentIds, failing] = [[], [], []];
    const master = {
      write: (work: () => Promise<unknown>) => work(),
      query: async ({ name, values }: { name: string; values: unknown[][] }) => {
        const kind = (Object.keys(KINDS) as Kind[]).find((each) => KINDS[each] === name) ?? 'uses';
        if (kind === 'refusals') sentIds.push(...(values[2] ?? []));
        if (failing.includes(kind)) throw new Error('away');
        const columns = kind === 'refusals' ? [values[0], values[6]] : values.slice(0, 4);
        const rows = (values[0] ?? []).map((_, row) => columns.map((column) => shown(column?.[row])).join(' '));
        written.push({ kind, rows });
        return { rows: [] };
      },
    };
    records = new PostgresRequestRecords({ manager: {}, driver: { master } } as unknown as DataSource, () => undefined);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const ALL: readonly Kind[] = ['uses', 'operations', 'usage', 'refusals'];
  const shown = (value: unknown) => String(value).replace(/^2026-01-01T(..:..):.*/, '$1');
  const rowsOf = (kind: Kind) => written.filter((each) => each.kind === kind).map(({ rows }) => rows);
  const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
  const keyOf = (id: number) => ({ accountId: BigInt(id) as AccountId, keyId: BigInt(id) as ApiKeyId });

  const use = (key: number, operation?: string, at = NOON) => {
    records.record({ ...keyOf(key), at: instant(at), isUse: true, operation });
  };
  const count = (key: number, isAdmitted = true, at = NOON) => {
    records.record({ ...keyOf(key), at: instant(at), isUse: false, isAdmitted });
  };
  const refuse = (account: number, request: number | string) => {
    const failedRequest = { operation: 'list', code: 'rate_limited', requestId: String(request) };
    records.record({ ...keyOf(account), at: instant(NOON), isUse: false, failedRequest });
  };
  const requests = (account: number, from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `${account} ${from + index}`);

  it('one write a second has everything of all keys, and there is none without requests', async () => {
    for (const key of [1, 2]) {
      use(key, 'list');
      for (let sent = 0; sent < 1_000; sent += 1) count(key, sent % 4 > 0);
      for (let sent = 0; sent < 101; sent += 1) refuse(key, sent);
    }
    await pass(999);
    expect(written).toEqual([]);
    await pass(60_000);
    expect(written).toEqual([
      { kind: 'uses', rows: ['1 12:00', '2 12:00'] },
      { kind: 'usage', rows: ['1 12:00 750 250', '2 12:00 750 250'] },
      { kind: 'operations', rows: ['1 list 12:00', '2 list 12:00'] },
      { kind: 'refusals', rows: [...requests(1, 1, 101), ...requests(2, 1, 101)] },
    ]);
  });

  it('the use of a key and of an operation is written once a minute', async () => {
    for (const at of [NOON, NOON + MINUTE - 1]) {
      for (const operation of ['list', 'add', undefined]) use(1, operation, at);
      await pass(1_000);
    }
    expect(written.map(({ kind, rows }) => [kind, rows])).toEqual([
      ['uses', ['1 12:00']],
      ['operations', ['1 list 12:00', '1 add 12:00']],
    ]);
    use(1, 'list', NOON + MINUTE);
    await pass(1_000);
    expect([rowsOf('uses')[1], rowsOf('operations')[1]]).toEqual([['1 12:01'], ['1 list 12:01']]);
  });

  describe('what could not be written', () => {
    it('is written later, with what came since', async () => {
      failing = ALL;
      use(1, 'list');
      use(2, 'list');
      count(1);
      refuse(1, 'a');
      await pass(7_000);
      use(1, 'list', NOON + MINUTE);
      count(1, false);
      count(2);
      refuse(2, 'b');
      refuse(1, 'c');
      failing = [];
      await pass(1_000);
      expect(written.map(({ kind, rows }) => [kind, [...rows].sort()])).toEqual([
        ['uses', ['1 12:01', '2 12:00']],
        ['usage', ['1 12:00 1 1', '2 12:00 1 0']],
        ['operations', ['1 list 12:01', '2 list 12:00']],
        ['refusals', ['1 a', '1 c', '2 b']],
      ]);
    });

    it('of refusals is written under the same id, so that none is added twice', async () => {
      failing = ['refusals'];
      refuse(1, 'a');
      await pass(1_000);
      failing = [];
      await pass(1_000);
      expect(sentIds).toEqual([expect.any(Number), sentIds[0]]);
    });

    it('of refusals holds up nothing else', async () => {
      failing = ['refusals'];
      for (let second = 0; second < 3; second += 1) {
        refuse(1, second);
        count(1);
        use(1, 'list', NOON + second * MINUTE);
        await pass(1_000);
      }
      expect([rowsOf('uses').length, rowsOf('usage').length, rowsOf('operations').length]).toEqual([3, 3, 3]);
      failing = [];
      await pass(1_000);
      expect(rowsOf('refusals')).toEqual([requests(1, 0, 3)]);
    });
  });

  describe('while the database is away', () => {
    beforeEach(() => {
      failing = ALL;
    });
    const comesBack = async () => {
      failing = [];
      await pass(1_000);
    };
    const lengthOf = (kind: Kind) => rowsOf(kind).flat().length;

    it('10,000 keys, 50,000 operations and 50,000 hours are held; a further key is recorded in a later minute', async () => {
      for (let key = 0; key < MOST_HELD + 1; key += 1) {
        use(key, 'list');
        count(key % MOST_KEYS, true, NOON + Math.floor(key / MOST_KEYS) * HOUR);
        if (key % 20_000 === 0) await pass(1_000);
      }
      await comesBack();
      expect([lengthOf('uses'), lengthOf('operations'), lengthOf('usage')]).toEqual([MOST_KEYS, MOST_HELD, MOST_HELD]);
      use(MOST_HELD, 'list', NOON + MINUTE);
      await pass(1_000);
      expect([rowsOf('uses').at(-1), rowsOf('operations').at(-1)]).toEqual([['50000 12:01'], ['50000 list 12:01']]);
    });

    it('20,000 refusals are held, the dropped ones counted, and neither uses nor usage lack room because of them', async () => {
      const accounts = MOST_HELD_FAILED_REQUESTS / 50;
      for (let request = 0; request < 50; request += 1) {
        for (let account = 1; account <= accounts; account += 1) refuse(account, request);
      }
      expect(records.droppedFailedRequests).toBe(0);
      refuse(accounts + 1, 'of an account that has none');
      refuse(1, 'latest');
      expect(records.droppedFailedRequests).toBe(2);
      use(1, 'list');
      count(1);
      await comesBack();
      expect([lengthOf('uses'), lengthOf('operations'), lengthOf('usage')]).toEqual([1, 1, 1]);
      const all = rowsOf('refusals').flat();
      expect(all).toHaveLength(MOST_HELD_FAILED_REQUESTS);
      expect(all.filter((each) => each.startsWith('1 '))).toEqual([...requests(1, 1, 50), '1 latest']);
      expect(all.filter((each) => each.includes('none'))).toEqual([]);
      // There is room again.
      refuse(accounts + 1, 'next');
      await pass(1_000);
      expect(rowsOf('refusals').at(-1)).toEqual([`${accounts + 1} next`]);
      expect(records.droppedFailedRequests).toBe(2);
    });
  });
});
