import type { Account, AccountId } from '../../accounts/account.js';
import {
  type ApiKey,
  type ApiKeyId,
  decideKeySwitch,
  endOf,
  KEY_STATES,
  type KeyState,
  keyState,
  type NewApiKey,
} from '../../accounts/keys/api-key.js';
import type { ApiKeyRepository } from '../../accounts/keys/api-key-repository.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import type { PagePosition } from '../../kernel/page.js';
import { NOON as now, oftenerThanAPage, revokeKey } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** What the suite of API keys does with a store. */
interface KeyStore {
  readonly apiKeys: ApiKeyRepository;
  readonly openAccount: () => Promise<Account>;
  readonly add: (changes?: Partial<NewApiKey>) => Promise<ApiKey>;
}

/** What every `ApiKeyRepository` guarantees about lists. */
export function apiKeyLists(framework: TestFramework, opened: () => KeyStore): void {
  const { describe, it, beforeAll, expect } = framework;
  let keys: ApiKeyRepository;
  let openAccount: KeyStore['openAccount'];
  let add: KeyStore['add'];
  beforeAll(() => {
    ({ apiKeys: keys, openAccount, add } = opened());
  });

  it('lists the keys of one account, or of all, or a part of them, ascending by id', async () => {
    const [one, other] = [await openAccount(), await openAccount()];
    const added: ApiKeyId[] = [];
    for (const { id: accountId } of [one, other, one, other, one]) added.push((await add({ accountId })).id);
    const [first, , third, , fifth] = added;
    const all = (await keys.list()).map(({ key }) => key.id);
    expect(all.slice(-5)).toEqual(added);
    for (const [owner, part, found] of [
      [one.id, {}, [first, third, fifth]],
      [undefined, { limit: 2 }, all.slice(0, 2)],
      [one.id, { limit: 2 }, [first, third]],
      [one.id, { after: third, limit: 2 }, [fifth]],
      [one.id, { after: fifth, limit: 2 }, []],
      [undefined, { after: first, limit: 3 }, added.slice(1, 4)],
      [undefined, { after: first }, added.slice(1)],
    ] as const) {
      const ids = (await keys.list(owner, part)).map(({ key }) => key.id);
      expect({ owner, part, found: ids }).toEqual({ owner, part, found });
    }
  });

  describe('of 101 keys', () => {
    let accountId: AccountId;
    let added: ApiKeyId[];
    beforeAll(async () => {
      accountId = (await openAccount()).id;
      added = (await oftenerThanAPage(() => add({ accountId, expiresAt: now }))).map(({ id }) => id);
    });
    const newestFirst = () => added.toReversed();
    const page = (place: PagePosition<ApiKeyId>) =>
      keys.search({ accountId, states: KEY_STATES, at: now, limit: 101, ...place });
    const listed = async (limit?: number) => (await keys.list(accountId, { limit })).map(({ key }) => key);
    for (const [question, expected, ask] of [
      ['list', () => added, () => listed(101)],
      ['list without a limit', () => added, () => listed()],
      ['listActive', () => added, () => keys.listActive(accountId, later(now, -1))],
      ['listPast', newestFirst, () => keys.listPast({ accountId, at: now, limit: 101 })],
      ['search', newestFirst, () => page({})],
      ['search back', newestFirst, () => page({ before: ((added[0] ?? 0n) - 1n) as ApiKeyId })],
    ] as const)
      it(`gives as many as are asked for: ${question}`, async () => {
        expect((await ask()).map(({ id }) => id)).toEqual(expected());
      });

    it('purges them all', async () => {
      await keys.purge(now);
      expect(await keys.list(accountId)).toEqual([]);
    });
  });

  it('lists an account’s past keys, the latest end first', async () => {
    const { id: accountId } = await openAccount();
    const over: ApiKey[] = [];
    for (let minutes = 0; minutes < 7; minutes += 1) {
      // Two keys end at each instant; one expires and one is revoked first.
      const endsAt = later(now, -Math.floor(minutes / 2) * MINUTE);
      const isRevoked = minutes % 3 === 0;
      const key = await add({ accountId, expiresAt: isRevoked ? later(now, 2 * HOUR) : endsAt });
      over.push(isRevoked ? await revokeKey({ apiKeys: keys }, key.id, endsAt) : key);
    }
    // By a clock that is ahead.
    over.push(await revokeKey({ apiKeys: keys }, (await add({ accountId })).id, later(now, HOUR)));
    await add({ accountId });
    await add({ accountId, expiresAt: later(now, 1) });
    await add({ expiresAt: now });
    const expected = over.toSorted(
      (one, other) => Number(endOf(other)) - Number(endOf(one)) || Number(other.id - one.id),
    );
    expect(await keys.listPast({ accountId, at: now, limit: 10 })).toEqual(expected);
    expect(await keys.listPast({ accountId, at: now, limit: 3 })).toEqual(expected.slice(0, 3));
  });

  /** A key in each state at `now`, and one that was revoked at its expiry, which counts as expired. */
  const oneOfEach = async (accountId: AccountId) => {
    const active = await add({ accountId, expiresAt: later(now, 1) });
    const { id: disabledId } = await add({ accountId });
    const expired = await add({ accountId, expiresAt: now });
    const { id: revokedId } = await add({ accountId, expiresAt: later(now, HOUR) });
    const { id: endedId } = await add({ accountId, expiresAt: later(now, HOUR) });
    const disable = (id: ApiKeyId) => keys.change(id, (state) => decideKeySwitch(state, { id, isDisabled: true }, now));
    const disabled = await disable(disabledId);
    await disable(revokedId);
    // By a clock that is ahead.
    const revoked = await revokeKey({ apiKeys: keys }, revokedId, later(now, 1));
    const ended = await revokeKey({ apiKeys: keys }, endedId, later(now, HOUR));
    return { active: [active], disabled: [disabled], expired: [ended, expired], revoked: [revoked] };
  };

  it('finds only the account’s own keys, by state at an instant, newest first, and lists those that have not ended', async () => {
    const { id: accountId } = await openAccount();
    const { active, disabled, expired, revoked } = await oneOfEach(accountId);
    await oneOfEach((await openAccount()).id);
    const search = (...states: KeyState[]) => keys.search({ accountId, states, at: now, limit: 10 });
    for (const [state, found] of Object.entries({ active, disabled, expired, revoked })) {
      expect(await search(state as KeyState)).toEqual(found);
    }
    expect(await search('active', 'disabled')).toEqual([...disabled, ...active]);
    expect(await search('disabled', 'revoked')).toEqual([...revoked, ...disabled]);
    expect(await search(...KEY_STATES)).toHaveLength(5);
    expect(await search()).toEqual([]);
    expect(await keys.listActive(accountId, now)).toEqual([...active, ...disabled]);
    expect(await keys.listActive(accountId, later(now, 1))).toEqual(disabled);
  });

  it('finds an account’s keys by a part of the name, whichever characters it has', async () => {
    const { id: accountId } = await openAccount();
    const names = ['Shop website', 'workshop', '50% off_', String.raw`back\slash`, 'cafe\u0301', 'th\u00e9', undefined];
    for (const name of names) await add({ accountId, name });
    await add({ name: 'shop of others' });
    const search = async (name: string) =>
      (await keys.search({ accountId, states: KEY_STATES, name, at: now, limit: 10 })).map((key) => key.name);
    expect(await search('SHOP')).toEqual(['workshop', 'Shop website']);
    expect(await search('0% o')).toEqual(['50% off_']);
    expect(await search('f\u00e9')).toEqual(['cafe\u0301']);
    expect(await search('he\u0301')).toEqual(['th\u00e9']);
    expect(await search('_')).toEqual(['50% off_']);
    expect(await search('%s')).toEqual([]);
    expect(await search(String.raw`k\s`)).toEqual([String.raw`back\slash`]);
  });

  for (const states of [KEY_STATES, ['active', 'disabled'], ['revoked']] as const)
    it(`finds keys page by page, forwards and back, each once: ${states.join()}`, async () => {
      const { id: accountId } = await openAccount();
      const added: ApiKey[] = [];
      for (let number = 0; number < 7; number += 1) {
        const key = await add({ accountId, name: number === 3 ? 'other' : `shop ${number}` });
        added.unshift(number % 2 === 0 ? key : await revokeKey({ apiKeys: keys }, key.id, now));
      }
      const wanted = added.filter((key) => key.name !== 'other' && states.some((each) => each === keyState(key, now)));
      const ids = wanted.map(({ id }) => id);
      for (const [place, id] of ids.entries())
        for (const [asked, found] of [
          [{ after: id }, ids.slice(place + 1, place + 3)],
          [{ before: id }, ids.slice(Math.max(0, place - 2), place)],
        ] as const) {
          const page = await keys.search({ accountId, states, name: 'shop', at: now, limit: 2, ...asked });
          expect({ asked, found: page.map((key) => key.id) }).toEqual({ asked, found });
        }
    });
}
