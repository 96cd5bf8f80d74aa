import {
  type AccountId,
  type ApiKeyId,
  HOUR,
  instant,
  type KeyRequester,
  later,
  MINUTE,
  MOST_FAILED_REQUESTS,
  MOST_OF_A_CODE,
  type Ports,
} from '@adoption-store/domain';
import { requestRecordsSuite } from '@adoption-store/domain/testing';
import { ask, until } from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { PostgresRequestRecords } from '../src/limits/postgres-request-records.js';
import { MOST_HELD, MOST_HELD_FAILED_REQUESTS, MOST_KEYS } from '../src/limits/unwritten-requests.js';
import { addKey, closedAfterEach, openPostgres, openStore } from './databases.js';
import { framework } from './framework.js';

const NOON = instant(Date.UTC(2026, 0, 1, 12));

requestRecordsSuite(framework, 'PostgreSQL', openPostgres);

const opened = closedAfterEach();

async function openWithKey() {
  const postgres = await openPostgres();
  opened.push(postgres.close);
  return { ...postgres, records: postgres.ports.requestRecords, key: await addKey(postgres.ports) };
}

describe('failed requests', () => {
  const fail = (
    { requestRecords }: Ports,
    key: KeyRequester,
    requestId: string,
    milliseconds: number,
    code: string,
  ) => {
    const failedRequest = { operation: 'GET /v1/pets', status: 404, code, reason: requestId, requestId };
    requestRecords.record({ ...key, at: later(NOON, milliseconds), isUse: true, failedRequest });
  };
  const rows = (url: string) => ask(url, 'SELECT count(*)::integer AS count FROM failed_requests');

  it('of instances that write at the same time never deadlock, and the next write leaves those that are kept', async () => {
    const { ports, url, records, key } = await openWithKey();
    const instances = await Promise.all(Array.from({ length: 4 }, () => openStore(opened, url)));
    for (const instance of instances) {
      for (let request = 0; request < 100; request += 1) {
        fail(instance.ports, key, `request-${request}`, request, `code-${request % 10}`);
        fail(instance.ports, key, `more-${request}`, request, 'not_found');
      }
    }
    await Promise.all(instances.map((instance) => instance.close()));
    const all = await records.listFailedRequests(key.accountId);
    expect(all).toHaveLength(MOST_FAILED_REQUESTS);
    expect(new Set(all.map(({ count }) => count))).toEqual(new Set([4]));
    fail(ports, key, 'the next', 1_000, 'not_found');
    const newest = async () => (await records.listFailedRequests(key.accountId))[0]?.reason;
    await until(async () => (await newest()) === 'the next');
    await until(async () => (await rows(url))[0]?.['count'] === MOST_FAILED_REQUESTS);
  });
});

it('a process that counts nothing tells the minute, the day and bans that another counts, and writes nothing over them', async () => {
  const { ports, url, key: requester } = await openWithKey();
  const following = await openStore(opened, url);
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
    failed: 'failed requests add',
  };
  type Kind = keyof typeof KINDS;

  /** The statements that succeeded, with their rows as texts. */
  let written: { readonly kind: Kind; readonly rows: readonly string[] }[];
  /** The kinds whose statements fail. */
  let failing: readonly Kind[];
  let records: PostgresRequestRecords;

  beforeEach(() => {
    jest.useFakeTimers();
    [written, failing] = [[], []];
    const master = {
      write: (work: () => Promise<unknown>) => work(),
      query: async ({ name, values }: { name: string; values: unknown[][] }) => {
        const kind = (Object.keys(KINDS) as Kind[]).find((each) => KINDS[each] === name);
        if (kind === undefined) return { rows: [] };
        if (failing.includes(kind)) throw new Error('away');
        const columns = kind === 'failed' ? [values[0], values[8], values[7]] : values.slice(0, 4);
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

  const ALL: readonly Kind[] = ['uses', 'operations', 'usage', 'failed'];
  const shown = (value: unknown) =>
    typeof value === 'number' && value >= NOON ? new Date(value).toISOString().slice(11, 16) : String(value);
  const rowsOf = (kind: Kind) => written.filter((each) => each.kind === kind).map(({ rows }) => rows);
  const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
  const keyOf = (id: number) => ({ accountId: BigInt(id) as AccountId, keyId: BigInt(id) as ApiKeyId });

  const use = (key: number, operation?: string, at = NOON) => {
    records.record({ ...keyOf(key), at: instant(at), isUse: true, operation });
  };
  const count = (key: number, isAdmitted = true, at = NOON) => {
    records.record({ ...keyOf(key), at: instant(at), isUse: false, isAdmitted });
  };
  /** Requests of one account whose ids differ are equal if their reasons are. */
  const fail = (account: number, id: number | string, reason = String(id)) => {
    const failedRequest = { operation: 'list', status: 404, code: 'not_found', reason, requestId: String(id) };
    records.record({ ...keyOf(account), at: instant(NOON), isUse: false, failedRequest });
  };

  it('one write a second has everything of all keys, and there is none without requests', async () => {
    for (const key of [1, 2]) {
      use(key, 'list');
      for (let sent = 0; sent < 1_000; sent += 1) count(key, sent % 4 > 0);
      for (let sent = 0; sent < 1_000; sent += 1) fail(key, sent, 'equal');
      fail(key, 'other');
    }
    await pass(999);
    expect(written).toEqual([]);
    await pass(60_000);
    const lastIds = Array.from({ length: 10 }, (_, index) => 999 - index).join(' ');
    expect(written).toEqual([
      { kind: 'uses', rows: ['1 12:00', '2 12:00'] },
      { kind: 'usage', rows: ['1 12:00 750 250', '2 12:00 750 250'] },
      { kind: 'operations', rows: ['1 list 12:00', '2 list 12:00'] },
      { kind: 'failed', rows: [1, 2].flatMap((key) => [`${key} ${lastIds} 1000`, `${key} other 1`]) },
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
      fail(1, 'a');
      await pass(7_000);
      use(1, 'list', NOON + MINUTE);
      count(1, false);
      count(2);
      fail(2, 'b');
      fail(1, 'c', 'a');
      failing = [];
      await pass(1_000);
      expect(written.map(({ kind, rows }) => [kind, [...rows].sort()])).toEqual([
        ['uses', ['1 12:01', '2 12:00']],
        ['usage', ['1 12:00 1 1', '2 12:00 1 0']],
        ['operations', ['1 list 12:01', '2 list 12:00']],
        ['failed', ['1 c a 2', '2 b 1']],
      ]);
    });

    it('of failed requests holds up nothing else', async () => {
      failing = ['failed'];
      for (let second = 0; second < 3; second += 1) {
        fail(1, second, 'equal');
        count(1);
        use(1, 'list', NOON + second * MINUTE);
        await pass(1_000);
      }
      expect([rowsOf('uses').length, rowsOf('usage').length, rowsOf('operations').length]).toEqual([3, 3, 3]);
      failing = [];
      await pass(1_000);
      expect(rowsOf('failed')).toEqual([['1 2 1 0 3']]);
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

    it('20,000 failed requests are held: one more takes the place of its account’s oldest or is counted as dropped, and neither uses nor usage lack room', async () => {
      const accounts = MOST_HELD_FAILED_REQUESTS / MOST_OF_A_CODE;
      for (let request = 0; request < MOST_OF_A_CODE; request += 1) {
        for (let account = 1; account <= accounts; account += 1) fail(account, request);
      }
      expect(records.droppedFailedRequests).toBe(0);
      fail(accounts + 1, 'of an account that has none');
      fail(1, 'latest');
      expect(records.droppedFailedRequests).toBe(1);
      fail(1, 'equal', '1');
      use(1, 'list');
      count(1);
      await comesBack();
      expect([lengthOf('uses'), lengthOf('operations'), lengthOf('usage')]).toEqual([1, 1, 1]);
      const all = rowsOf('failed').flat();
      expect(all).toHaveLength(MOST_HELD_FAILED_REQUESTS);
      expect(all.filter((row) => ['1 0 1', '1 latest 1', '1 equal 1 2'].includes(row))).toEqual([
        '1 equal 1 2',
        '1 latest 1',
      ]);
      // There is room again.
      fail(accounts + 1, 'next');
      await pass(1_000);
      expect(rowsOf('failed').at(-1)).toEqual([`${accounts + 1} next 1`]);
      expect(records.droppedFailedRequests).toBe(1);
    });

    it('the failed requests of one account never take more than twice the room that it has', async () => {
      for (let request = 0; request < MOST_HELD_FAILED_REQUESTS + 1; request += 1) fail(1, request);
      expect(records.droppedFailedRequests).toBe(0);
      await comesBack();
      expect(lengthOf('failed')).toBe(MOST_OF_A_CODE);
    });
  });
});
