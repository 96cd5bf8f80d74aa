import type { AccountId } from '../../accounts/account.js';
import { DAY, HOUR, instant, later, MINUTE, startOf } from '../../kernel/clock.js';
import { sumOf } from '../../quotas/show-usage.js';
import { type UsedKey, USAGE_SPANS } from '../../quotas/usage-records.js';
import { Draws } from './draws.js';
import { NOON, openWithPassword, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'apiKeys' | 'credentials' | 'usage';

const DAY_ONE = startOf(DAY, NOON);
const NOON_HOUR = startOf(HOUR, NOON);

/** The guarantees of every `UsageRecords`. */
export function usageRecordsSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect, until, random } = framework;
  describe(`usage records (${name})`, () => {
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let ports: Opened<Needed>['ports'];
    beforeAll(async () => {
      adapters = await open();
      ports = adapters.ports;
    });
    afterAll(() => adapters.close());

    async function newKey(accountId?: AccountId): Promise<UsedKey> {
      const id = accountId ?? (await ports.accounts.open(unique.account())).id;
      return { accountId: id, keyId: (await ports.apiKeys.add(unique.key({ id }))).id };
    }
    function record(key: UsedKey, admitted: number, refused: number, at = NOON): void {
      for (let count = 0; count < admitted; count += 1) ports.usage.record(key, true, at);
      for (let count = 0; count < refused; count += 1) ports.usage.record(key, false, at);
    }
    /** Waits until that many requests of the account are included. */
    async function untilIncluded(accountId: AccountId, requests: number): Promise<void> {
      await until(async () => {
        const { admitted, refused } = sumOf(await ports.usage.list(accountId, 'day', instant(0)));
        return admitted + refused === requests;
      });
    }

    it('add up by hour, day and key, within seconds, and are the account’s own', async () => {
      const one = await newKey();
      const { accountId } = one;
      const [other, strangers] = [await newKey(accountId), await newKey()];
      record(one, 3, 2);
      record(strangers, 1, 0);
      record(one, 0, 1, later(DAY_ONE, DAY));
      record(other, 1, 0);
      record(one, 1, 0, later(DAY_ONE, DAY - 1));
      await untilIncluded(accountId, 8);
      const days = [
        { start: DAY_ONE, admitted: 5, refused: 2 },
        { start: later(DAY_ONE, DAY), admitted: 0, refused: 1 },
      ];
      const hours = [
        { start: NOON_HOUR, admitted: 4, refused: 2 },
        { start: later(DAY_ONE, DAY - HOUR), admitted: 1, refused: 0 },
        { start: later(DAY_ONE, DAY), admitted: 0, refused: 1 },
      ];
      expect(await ports.usage.list(accountId, 'day', DAY_ONE)).toEqual(days);
      expect(await ports.usage.list(accountId, 'day', later(DAY_ONE, DAY))).toEqual(days.slice(1));
      expect(await ports.usage.list(accountId, 'hour', DAY_ONE)).toEqual(hours);
      expect(await ports.usage.list(accountId, 'hour', later(NOON_HOUR, HOUR))).toEqual(hours.slice(1));
      expect(await ports.usage.list(accountId, 'hour', NOON_HOUR, other.keyId)).toEqual([
        { start: NOON_HOUR, admitted: 1, refused: 0 },
      ]);
      expect(await ports.usage.list(accountId, 'day', DAY_ONE, strangers.keyId)).toEqual([]);
      const all = [one.keyId, other.keyId, strangers.keyId];
      expect(await ports.usage.sumByKey(accountId, 'day', DAY_ONE, all)).toEqual([
        { keyId: one.keyId, admitted: 4, refused: 3 },
        { keyId: other.keyId, admitted: 1, refused: 0 },
      ]);
      expect(await ports.usage.sumByKey(accountId, 'hour', later(NOON_HOUR, HOUR), all)).toEqual([
        { keyId: one.keyId, admitted: 1, refused: 1 },
      ]);
      record(one, 2, 0);
      await untilIncluded(accountId, 10);
    });

    it('tell the time of the last request that they include, if it was in the given hours', async () => {
      const key = await newKey();
      expect(await ports.usage.lastIncluded(key.accountId, DAY_ONE)).toBeUndefined();
      for (const minutes of [3, 61, 7]) record(key, 1, 0, later(NOON_HOUR, minutes * MINUTE));
      await untilIncluded(key.accountId, 3);
      const last = later(NOON_HOUR, 61 * MINUTE);
      expect(await ports.usage.lastIncluded(key.accountId, DAY_ONE)).toBe(last);
      expect(await ports.usage.lastIncluded(key.accountId, startOf(HOUR, last))).toBe(last);
      expect(await ports.usage.lastIncluded(key.accountId, later(startOf(HOUR, last), HOUR))).toBeUndefined();
    });

    it('of drawn requests: the hours of each day add up to it, for each key and all together', async () => {
      const draws = new Draws(random);
      const first = await newKey();
      const { accountId } = first;
      const keys = [first, await newKey(accountId), await newKey(accountId)];
      const sent = Array.from({ length: 200 }, () => ({
        key: draws.pick(keys),
        isAdmitted: !draws.isOneOf(3),
        // Often at the edge of an hour.
        at: later(DAY_ONE, draws.integer(0, 71) * HOUR + draws.pick([0, 1, HOUR / 2, HOUR - 1])),
      }));
      for (const { key, isAdmitted, at } of sent) ports.usage.record(key, isAdmitted, at);
      await untilIncluded(accountId, sent.length);
      for (const keyId of [undefined, ...keys.map((key) => key.keyId)]) {
        for (const span of ['hour', 'day'] as const) {
          const length = USAGE_SPANS[span];
          const starts = Array.from({ length: (3 * DAY) / length }, (_, index) => later(DAY_ONE, index * length));
          const expected = starts.flatMap((start) => {
            const own = sent.filter(
              ({ key, at }) => startOf(length, at) === start && (keyId === undefined || key.keyId === keyId),
            );
            const admitted = own.filter(({ isAdmitted }) => isAdmitted).length;
            return own.length === 0 ? [] : [{ start, admitted, refused: own.length - admitted }];
          });
          expect(await ports.usage.list(accountId, span, DAY_ONE, keyId)).toEqual(expected);
        }
      }
    });

    it('older than an hour or a day are forgotten, the others not', async () => {
      const { accountId, ...key } = await newKey();
      for (const days of [-20, -19, -10]) record({ accountId, ...key }, 1, 0, later(DAY_ONE, days * DAY));
      await untilIncluded(accountId, 3);
      const tenth = later(DAY_ONE, -10 * DAY);
      expect(await ports.usage.forget('day', tenth)).toBe(2);
      expect(await ports.usage.forget('day', tenth)).toBe(0);
      expect(await ports.usage.list(accountId, 'day', instant(0))).toMatchObject([{ start: tenth }]);
      expect(await ports.usage.list(accountId, 'hour', instant(0))).toHaveLength(3);
      expect(await ports.usage.forget('hour', tenth)).toBe(2);
      expect(await ports.usage.list(accountId, 'hour', instant(0))).toMatchObject([{ start: tenth }]);
      expect(await ports.usage.forget('hour', later(tenth, HOUR))).toBe(1);
      expect(await ports.usage.list(accountId, 'hour', instant(0))).toEqual([]);
      expect(await ports.usage.list(accountId, 'day', instant(0))).toHaveLength(1);
    });

    it('by hour are deleted with their account', async () => {
      const { id } = await openWithPassword(ports.credentials, unique);
      const [key, others] = [await newKey(id), await newKey()];
      for (const each of [key, others]) record(each, 1, 0);
      for (const { accountId } of [key, others]) await untilIncluded(accountId, 1);
      await ports.credentials.close({ accountId: id, current: 'hash', at: NOON });
      expect(await ports.usage.list(id, 'hour', DAY_ONE)).toEqual([]);
      expect(await ports.usage.list(others.accountId, 'hour', DAY_ONE)).toHaveLength(1);
    });
  });
}
