import type { AccountId } from '../../accounts/account.js';
import { later, MINUTE } from '../../kernel/clock.js';
import { MOST_REFUSALS, type Refusal } from '../../quotas/refusal-log.js';
import type { KeyRequester } from '../../quotas/request-counter.js';
import { NOON, openWithPassword, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'apiKeys' | 'credentials' | 'refusals';

/** The guarantees of every `RefusalLog`. */
export function refusalLogSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect, until } = framework;
  describe(`a log of refusals (${name})`, () => {
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let ports: Opened<Needed>['ports'];
    beforeAll(async () => {
      adapters = await open();
      ports = adapters.ports;
    });
    afterAll(() => adapters.close());

    async function newKey(accountId?: AccountId): Promise<KeyRequester> {
      const id = accountId ?? (await openWithPassword(ports.credentials, unique)).id;
      return { accountId: id, keyId: (await ports.apiKeys.add(unique.key({ id }))).id };
    }
    const refusalOf = ({ keyId }: KeyRequester, changes: Partial<Refusal> = {}): Refusal => ({
      ...{ at: NOON, keyId, operation: 'GET /v1/pets', code: 'invalid_parameter', requestId: unique.name() },
      ...changes,
    });
    function record(key: KeyRequester, changes: Partial<Refusal> = {}): Refusal {
      const refusal = refusalOf(key, changes);
      ports.refusals.record(key.accountId, refusal);
      return refusal;
    }
    const untilThere = (accountId: AccountId, latest: Refusal) =>
      until(async () => (await ports.refusals.list(accountId)).some(({ requestId }) => requestId === latest.requestId));

    it('has the refusals of each account, the latest first, with their keys', async () => {
      const one = await newKey();
      const [other, strangers] = [await newKey(one.accountId), await newKey()];
      const first = record(one);
      record(strangers);
      const third = record(other, { at: later(NOON, 2), code: 'rate_limited', operation: 'POST /v1/pets' });
      const second = record(one, { at: later(NOON, 1) });
      const sameTime = record(one, { at: later(NOON, 1) });
      await untilThere(one.accountId, sameTime);
      const key = { name: undefined, ending: 'wxyz' };
      expect(await ports.refusals.list(one.accountId)).toEqual(
        [third, sameTime, second, first].map((each) => ({ ...each, key })),
      );
    });

    it('finds a request by exactly its id, of that account only', async () => {
      const [key, strangers] = [await newKey(), await newKey()];
      const [wanted, , theirs] = [record(key), record(key), record(strangers)];
      await untilThere(key.accountId, wanted);
      await untilThere(strangers.accountId, theirs);
      const found = (requestId: string) => ports.refusals.list(key.accountId, requestId);
      expect(await found(wanted.requestId)).toMatchObject([wanted]);
      for (const id of [wanted.requestId.slice(0, -1), `${wanted.requestId}0`, '%', '', theirs.requestId]) {
        expect(await found(id)).toEqual([]);
      }
      // A client may choose the same id for several requests.
      const again = record(key, { requestId: wanted.requestId, at: later(NOON, 1) });
      await until(async () => (await found(wanted.requestId)).length === 2);
      expect(await found(wanted.requestId)).toMatchObject([again, wanted]);
    });

    it('keeps the last 100 of each account, however many there are at once or over time', async () => {
      const [key, strangers] = [await newKey(), await newKey()];
      const theirs = record(strangers);
      const all = Array.from({ length: 1_000 }, (_, index) => refusalOf(key, { at: later(NOON, index) }));
      const last = (count: number) => all.slice(count - MOST_REFUSALS, count).reverse();
      let recorded = 0;
      for (const count of [60, 150, 151, 700, 1_000]) {
        for (const refusal of all.slice(recorded, count)) ports.refusals.record(key.accountId, refusal);
        await untilThere(key.accountId, all[count - 1] ?? theirs);
        if (count >= MOST_REFUSALS) expect(await ports.refusals.list(key.accountId)).toMatchObject(last(count));
        recorded = count;
      }
      expect(await ports.refusals.list(strangers.accountId)).toMatchObject([theirs]);
    });

    it('forgets those before an instant, and no others', async () => {
      const key = await newKey();
      const [, second, third] = [0, 1, 2].map((minutes) =>
        record(key, { at: later(NOON, (minutes - 1_000) * MINUTE) }),
      );
      if (second === undefined || third === undefined) throw new Error('unreachable');
      await untilThere(key.accountId, third);
      expect(await ports.refusals.forget(second.at)).toBe(1);
      expect(await ports.refusals.list(key.accountId)).toMatchObject([third, second]);
    });

    it('loses those of a closed account, and takes no more', async () => {
      const [key, others] = [await newKey(), await newKey()];
      await untilThere(key.accountId, record(key));
      await ports.credentials.close({ accountId: key.accountId, current: 'hash', at: NOON });
      expect(await ports.refusals.list(key.accountId)).toEqual([]);
      record(key, { code: 'revoked_api_key' });
      await untilThere(others.accountId, record(others));
      expect(await ports.refusals.list(key.accountId)).toEqual([]);
    });
  });
}
