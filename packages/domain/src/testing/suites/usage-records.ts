import type { AccountId } from '../../accounts/account.js';
import { DAY, instant, later, startOf } from '../../kernel/clock.js';
import type { UsedKey } from '../../quotas/usage-records.js';
import { NOON, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'apiKeys' | 'usage';

const DAY_ONE = startOf(DAY, NOON);

/** The guarantees of every `UsageRecords`. */
export function usageRecordsSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect, until } = framework;
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

    it('add up by day and key, within seconds, and are the account’s own', async () => {
      const one = await newKey();
      const [other, strangers] = [await newKey(one.accountId), await newKey()];
      record(one, 3, 2);
      record(strangers, 1, 0);
      record(one, 0, 1, later(DAY_ONE, DAY));
      record(other, 1, 0);
      record(one, 1, 0, later(DAY_ONE, DAY - 1));
      const expected = [
        { day: DAY_ONE, keyId: one.keyId, admitted: 4, refused: 2 },
        { day: DAY_ONE, keyId: other.keyId, admitted: 1, refused: 0 },
        { day: later(DAY_ONE, DAY), keyId: one.keyId, admitted: 0, refused: 1 },
      ];
      await until(async () => (await ports.usage.list(one.accountId, DAY_ONE)).length === expected.length);
      expect(await ports.usage.list(one.accountId, DAY_ONE)).toEqual(expected);
      expect(await ports.usage.list(one.accountId, later(DAY_ONE, DAY))).toEqual(expected.slice(2));
      record(one, 2, 0);
      await until(async () => (await ports.usage.list(one.accountId, DAY_ONE))[0]?.admitted === 6);
    });

    it('older than a day are forgotten, the others not', async () => {
      const key = await newKey();
      for (const days of [-20, -19, -10]) record(key, 1, 0, later(DAY_ONE, days * DAY));
      await until(async () => (await ports.usage.list(key.accountId, instant(0))).length === 3);
      expect(await ports.usage.forget(later(DAY_ONE, -10 * DAY))).toBe(2);
      expect(await ports.usage.forget(later(DAY_ONE, -10 * DAY))).toBe(0);
      expect(await ports.usage.list(key.accountId, instant(0))).toMatchObject([{ day: later(DAY_ONE, -10 * DAY) }]);
    });
  });
}
