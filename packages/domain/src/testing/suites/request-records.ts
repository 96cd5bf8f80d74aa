import type { AccountId } from '../../accounts/account.js';
import type { ApiKeyId, KeyRequester } from '../../accounts/keys/api-key.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, startOf } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import { sumOf } from '../../limits/get-usage.js';
import {
  MOST_FAILED_REQUESTS,
  MOST_OF_A_CODE,
  MOST_OF_A_REASON,
  MOST_REQUEST_IDS,
  type FailedRequest,
} from '../../limits/failed-requests.js';
import type { RequestRecords, UsageSpan } from '../../limits/request-records.js';
import { addKey, closeAccount, NOON, openBefore, openWithPassword, present, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'apiKeys' | 'credentials' | 'requestRecords';

const DAY_ONE = startOf(DAY, NOON);
const NOON_HOUR = startOf(HOUR, NOON);

/** The guarantees of every `RequestRecords`. */
export function requestRecordsSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, expect, until } = framework;
  describe(`records of requests (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let records: RequestRecords;
    openBefore(framework, open, (adapters) => {
      ports = adapters.ports;
      records = ports.requestRecords;
    });

    async function newKey(accountId?: AccountId): Promise<KeyRequester> {
      const id = accountId ?? (await openWithPassword(ports.credentials, unique)).id;
      return { accountId: id, keyId: (await addKey(ports, unique.key({ id }))).id };
    }
    const unknown = { accountId: INT64_MAX as AccountId, keyId: INT64_MAX as ApiKeyId };
    const close = (id: AccountId) => closeAccount(ports, { id });
    const revokeKeys = (id: AccountId) =>
      ports.credentials.change(id, (credentials) => credentials && { credentials, keysRevokedAt: NOON });

    describe('of uses', () => {
      const use = (key: KeyRequester, minutes: number, operation?: string) => {
        records.record({ ...key, at: later(NOON, minutes * MINUTE), isUse: true, operation });
      };
      const minute = (minutes: number) => startOf(MINUTE, later(NOON, minutes * MINUTE));
      const lastUseOf = async ({ keyId }: KeyRequester) => (await ports.apiKeys.findById(keyId))?.key.lastUsedAt;
      const operationsOf = async ({ keyId }: KeyRequester) =>
        (await ports.apiKeys.listOperations([keyId])).get(keyId) ?? [];

      it('tell the latest minute in which a key was used, in any order of reports', async () => {
        const [one, other, unused] = [await newKey(), await newKey(), await newKey()];
        for (const minutes of [1, 3, 2]) use(one, minutes);
        use(unknown, 0);
        records.record({ ...unused, at: NOON, isUse: false });
        use(other, 0);
        await until(async () => (await lastUseOf(other)) === minute(0));
        expect([await lastUseOf(one), await lastUseOf(unused)]).toEqual([minute(3), undefined]);
        use(one, 0);
        use(other, 1);
        await until(async () => (await lastUseOf(other)) === minute(1));
        expect([await lastUseOf(one), await operationsOf(one)]).toEqual([minute(3), []]);
      });

      it('tell the latest minute of each operation, in any order of reports', async () => {
        const [one, unused] = [await newKey(), await newKey()];
        records.record({ ...unused, at: NOON, isUse: false, operation: 'list' });
        for (const minutes of [1, 3, 2]) use(one, minutes, 'list');
        use(unknown, 0, 'list');
        use(one, 2, 'add');
        await until(async () => (await operationsOf(one)).length === 2);
        expect(await operationsOf(one)).toEqual([
          { operation: 'list', lastUsedAt: minute(3) },
          { operation: 'add', lastUsedAt: minute(2) },
        ]);
        use(one, 1, 'list');
        use(one, 4, 'add');
        await until(async () => (await operationsOf(one))[0]?.operation === 'add');
        expect(await operationsOf(one)).toEqual([
          { operation: 'add', lastUsedAt: minute(4) },
          { operation: 'list', lastUsedAt: minute(3) },
        ]);
        expect(await operationsOf(unused)).toEqual([]);
      });
    });

    describe('of usage', () => {
      const record = (key: KeyRequester, admitted: number, refused: number, at = NOON) => {
        for (let sent = 0; sent < admitted + refused; sent += 1)
          records.record({ ...key, at, isUse: true, isAdmitted: sent < admitted });
      };
      /** Waits until that many requests of the account are included. */
      const untilIncluded = (accountId: AccountId, requests: number) =>
        until(async () => {
          const { admitted, refused } = sumOf(await records.listUsage(accountId, 'day', instant(0)));
          return admitted + refused === requests;
        });

      describe('of an account with two keys', () => {
        let one: KeyRequester;
        let other: KeyRequester;
        let strangers: KeyRequester;
        beforeAll(async () => {
          one = await newKey();
          [other, strangers] = [await newKey(one.accountId), await newKey()];
          record(one, 3, 2);
          record(strangers, 1, 0);
          record(unknown, 1, 0);
          record(one, 0, 1, later(DAY_ONE, DAY));
          record(other, 1, 0);
          record(one, 1, 0, later(DAY_ONE, DAY - 1));
          // Neither admitted nor refused by a limit.
          records.record({ ...one, at: NOON, isUse: true });
          await untilIncluded(one.accountId, 8);
        });
        const usage = (start: Instant, admitted: number, refused: number) => ({ start, admitted, refused });
        const days = [usage(DAY_ONE, 5, 2), usage(later(DAY_ONE, DAY), 0, 1)];
        const hours = [
          usage(NOON_HOUR, 4, 2),
          usage(later(DAY_ONE, DAY - HOUR), 1, 0),
          usage(later(DAY_ONE, DAY), 0, 1),
        ];

        it('add up by hour and day, from the given one on, ascending', async () => {
          for (const [span, from, found] of [
            ['day', DAY_ONE, days],
            ['day', later(DAY_ONE, DAY), days.slice(1)],
            ['hour', DAY_ONE, hours],
            ['hour', later(NOON_HOUR, HOUR), hours.slice(1)],
          ] as const) {
            const asked = { span, from };
            expect({ asked, found: await records.listUsage(one.accountId, span, from) }).toEqual({ asked, found });
          }
        });

        it('are those of one key, which must be the account’s', async () => {
          for (const span of ['hour', 'day'] as const)
            for (const [keyId, found] of [
              [other.keyId, [usage(span === 'hour' ? NOON_HOUR : DAY_ONE, 1, 0)]],
              [strangers.keyId, []],
            ] as const) {
              const asked = { span, keyId };
              const theirs = await records.listUsage(one.accountId, span, DAY_ONE, keyId);
              expect({ asked, found: theirs }).toEqual({ asked, found });
            }
        });

        it('have a sum for each of the account’s given keys, ascending by id', async () => {
          const sum = ({ keyId }: KeyRequester, admitted: number, refused: number) => ({ keyId, admitted, refused });
          for (const [span, from, keys, found] of [
            ['day', DAY_ONE, [strangers, other, one, other], [sum(one, 4, 3), sum(other, 1, 0)]],
            ['day', later(DAY_ONE, DAY), [other, one], [sum(one, 0, 1)]],
            ['hour', DAY_ONE, [strangers, other, one, other], [sum(one, 4, 3), sum(other, 1, 0)]],
            ['hour', DAY_ONE, [other], [sum(other, 1, 0)]],
            ['hour', later(NOON_HOUR, HOUR), [other, one], [sum(one, 1, 1)]],
          ] as const) {
            const asked = { span, from, ids: keys.map(({ keyId }) => keyId) };
            const sums = await records.sumUsageByKey(one.accountId, span, from, asked.ids);
            expect({ asked, found: sums }).toEqual({ asked, found });
          }
        });
      });

      it('add up with those that are stored already', async () => {
        const key = await newKey();
        record(key, 1, 0);
        await untilIncluded(key.accountId, 1);
        record(key, 1, 1);
        await untilIncluded(key.accountId, 3);
        for (const [span, start] of [
          ['hour', NOON_HOUR],
          ['day', DAY_ONE],
        ] as const)
          expect(await records.listUsage(key.accountId, span, start)).toEqual([{ start, admitted: 2, refused: 1 }]);
      });

      it('tell the time of the last request that they include, if it was in the given hours', async () => {
        const [key, strangers] = [await newKey(), await newKey()];
        expect(await records.lastIncluded(key.accountId, DAY_ONE)).toBeUndefined();
        record(strangers, 1, 0, later(NOON_HOUR, 65 * MINUTE));
        for (const minutes of [3, 60, 62, 61]) record(key, 1, 0, later(NOON_HOUR, minutes * MINUTE));
        await untilIncluded(key.accountId, 4);
        const last = later(NOON_HOUR, 62 * MINUTE);
        expect(await records.lastIncluded(key.accountId, DAY_ONE)).toBe(last);
        expect(await records.lastIncluded(key.accountId, startOf(HOUR, last))).toBe(last);
        expect(await records.lastIncluded(key.accountId, later(startOf(HOUR, last), HOUR))).toBeUndefined();
      });

      it('tell it also if others of its hour were stored before', async () => {
        const [one, other] = [await newKey(), await newKey()];
        const at = (minutes: number) => later(NOON_HOUR, minutes * MINUTE);
        for (const each of [one, other]) record(each, 1, 0, at(2));
        await untilIncluded(other.accountId, 1);
        record(one, 1, 0, at(1));
        record(other, 1, 0, at(3));
        await untilIncluded(other.accountId, 2);
        const times = [one, other].map(({ accountId }) => records.lastIncluded(accountId, NOON_HOUR));
        expect(await Promise.all(times)).toEqual([at(2), at(3)]);
      });

      it('before an hour or a day are purged, the others not', async () => {
        const key = await newKey();
        for (const days of [-20, -19, -10]) record(key, 1, 0, later(DAY_ONE, days * DAY));
        await untilIncluded(key.accountId, 3);
        const tenth = later(DAY_ONE, -10 * DAY);
        const starts = async (span: UsageSpan) =>
          (await records.listUsage(key.accountId, span, instant(0))).map(({ start }) => start);
        expect([await records.purgeUsage('hour', tenth), await records.purgeUsage('hour', tenth)]).toEqual([2, 0]);
        expect([await starts('hour'), (await starts('day')).length]).toEqual([[tenth], 3]);
        expect([await records.purgeUsage('day', tenth), await records.purgeUsage('day', tenth)]).toEqual([2, 0]);
        expect([await starts('hour'), await starts('day')]).toEqual([[tenth], [tenth]]);
      });

      it('by hour are deleted with their account, and its days stay', async () => {
        const [key, others] = [await newKey(), await newKey()];
        for (const each of [key, others]) record(each, 1, 0);
        for (const { accountId } of [key, others]) await untilIncluded(accountId, 1);
        await revokeKeys(key.accountId);
        expect(await records.listUsage(key.accountId, 'hour', DAY_ONE)).toHaveLength(1);
        await close(key.accountId);
        expect(await records.listUsage(key.accountId, 'hour', DAY_ONE)).toEqual([]);
        expect(await records.listUsage(key.accountId, 'day', DAY_ONE)).toHaveLength(1);
        expect(await records.listUsage(others.accountId, 'hour', DAY_ONE)).toHaveLength(1);
      });
    });

    describe('of failed requests', () => {
      const record = (key: KeyRequester, milliseconds = 0, changes: Partial<FailedRequest> = {}) => {
        const failure = {
          operation: 'list',
          status: 400,
          code: 'invalid_parameter',
          reason: unique.name(),
          ...changes,
        };
        const { requestId = unique.name(), ...rest } = failure;
        const at = later(NOON, milliseconds);
        records.record({ ...key, at, isUse: true, failedRequest: { ...rest, requestId } });
        return { ...rest, at, keyId: key.keyId, count: 1, requestIds: [requestId] };
      };
      type Recorded = ReturnType<typeof record>;
      const list = (key: KeyRequester) => records.listFailedRequests(key.accountId);
      const untilThere = (key: KeyRequester, { requestIds: [id = ''] }: Recorded) =>
        until(async () => (await list(key)).some(({ requestIds }) => requestIds.includes(id)));

      it('are those of each account, the latest first, with their keys', async () => {
        const one = await newKey();
        const [other, strangers] = [await newKey(one.accountId), await newKey()];
        const first = record(one);
        record(strangers);
        const third = record(other, 2, { code: 'rate_limited', status: 429, operation: 'add', reason: undefined });
        const second = record(one, 1, { reason: 'ñ漢'.repeat(MOST_OF_A_REASON / 2) });
        await untilThere(one, second);
        await ports.apiKeys.change(one.keyId, (state) => ({ ...present(state.key), name: 'renamed' }));
        expect(await list(one)).toEqual(
          [third, second, first].map((each) => {
            const name = each.keyId === one.keyId ? 'renamed' : undefined;
            return { ...each, key: { name, ending: 'wxyz' } };
          }),
        );
      });

      it('are counted together if they are equal, with the time of the last one and the ids of the last ten', async () => {
        const key = await newKey();
        const other = await newKey(key.accountId);
        const ids = Array.from({ length: 12 }, (_, index) => `equal-${index}`);
        const equal = { reason: 'name must be a string' };
        for (const [index, requestId] of ids.slice(0, 5).entries()) record(key, index, { ...equal, requestId });
        await until(async () => (await list(key)).some(({ count }) => count === 5));
        for (const [index, requestId] of ids.slice(5).entries()) record(key, 5 + index, { ...equal, requestId });
        const unequal = [
          record(other, 21, equal),
          record(key, 22, { ...equal, operation: 'add' }),
          record(key, 23, { ...equal, code: 'invalid_json' }),
          record(key, 24, { reason: undefined }),
        ];
        await until(async () => (await list(key)).some(({ count }) => count === 12));
        await untilThere(key, present(unequal.at(-1)));
        const all = await list(key);
        expect(all.slice(0, -1)).toMatchObject(unequal.toReversed());
        const last = { at: later(NOON, 11), count: 12, requestIds: ids.slice(-MOST_REQUEST_IDS).reverse() };
        expect(all.at(-1)).toMatchObject(last);
      });

      it('are the last 20 of each code, and a flood of one code displaces no other', async () => {
        const [key, strangers] = [await newKey(), await newKey()];
        const theirs = record(strangers);
        const first = record(key, 0, { code: 'invalid_json' });
        const flood: Recorded[] = [];
        for (const count of [60, 1_000]) {
          while (flood.length < count) flood.push(record(key, 1 + flood.length, { code: 'not_found', status: 404 }));
          await untilThere(key, present(flood.at(-1)));
        }
        expect(await list(key)).toMatchObject([...flood.slice(-MOST_OF_A_CODE).reverse(), first]);
        expect(await list(strangers)).toMatchObject([theirs]);
      });

      it('are the last 100 of each account', async () => {
        const key = await newKey();
        const all: Recorded[] = [];
        while (all.length < 150) all.push(record(key, all.length, { code: `code-${all.length % 10}` }));
        await untilThere(key, present(all.at(-1)));
        expect(await list(key)).toMatchObject(all.slice(-MOST_FAILED_REQUESTS).reverse());
      });

      it('before an instant are deleted, and no others', async () => {
        const key = await newKey();
        record(key, -1_000 * MINUTE);
        const [second, third] = [record(key, -999 * MINUTE), record(key, -998 * MINUTE)];
        await untilThere(key, third);
        expect(await records.purgeFailedRequests(second.at)).toBe(1);
        expect(await list(key)).toMatchObject([third, second]);
      });

      it('of a closed account are deleted, and no more are taken', async () => {
        const [key, others] = [await newKey(), await newKey()];
        await untilThere(key, record(key));
        await revokeKeys(key.accountId);
        expect(await list(key)).toHaveLength(1);
        await close(key.accountId);
        expect(await list(key)).toEqual([]);
        record(key, 0, { code: 'revoked_api_key' });
        await untilThere(others, record(others));
        expect(await list(key)).toEqual([]);
      });
    });
  });
}
