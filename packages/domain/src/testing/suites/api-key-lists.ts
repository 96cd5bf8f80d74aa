import type { Account, AccountId } from '../../accounts/account.js';
import {
  type ApiKey,
  type ApiKeyId,
  decideDisabling,
  endOf,
  KEY_STATES,
  type KeyState,
  keyState,
  type NewApiKey,
} from '../../accounts/keys/api-key.js';
import type { ApiKeyRepository } from '../../accounts/keys/api-key-repository.js';
import type { Ports } from '../../application.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import type { PagePlace } from '../../kernel/page.js';
import { addKey, NOON as now, revokeKey } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** The lists of every `ApiKeyRepository`. */
export function apiKeyLists(
  { it, expect }: TestFramework,
  opened: () => Pick<Ports, 'apiKeys'>,
  openAccount: () => Promise<Account>,
  draft: (changes?: Partial<NewApiKey>) => NewApiKey,
): void {
  it('lists the keys of one account, or of all, or a part of them, ascending by id', async () => {
    const { apiKeys: keys } = opened();
    const [one, other] = [await openAccount(), await openAccount()];
    const added = [];
    for (const { id: accountId } of [one, other, one, other, one])
      added.push(await addKey(opened(), draft({ accountId })));
    const [first, second, third] = added.filter(({ accountId }) => accountId === one.id);
    const part = async (...asked: Parameters<ApiKeyRepository['list']>) =>
      (await keys.list(...asked)).map(({ key }) => key);
    expect(await part(one.id)).toEqual([first, second, third]);
    expect((await part()).slice(-5)).toEqual(added);
    expect(await part(one.id, { limit: 2 })).toEqual([first, second]);
    expect(await part(one.id, { after: second?.id, limit: 2 })).toEqual([third]);
    expect(await part(one.id, { after: third?.id, limit: 2 })).toEqual([]);
    expect(await part(undefined, { after: first?.id, limit: 3 })).toEqual(added.slice(1, 4));
    expect(await part(undefined, { after: first?.id })).toEqual(added.slice(1));
  });

  it('lists only the account’s own keys that are active at an instant', async () => {
    const { apiKeys: keys } = opened();
    const { id: accountId } = await openAccount();
    const lasting = await addKey(opened(), draft({ accountId }));
    const ending = await addKey(opened(), draft({ accountId, expiresAt: later(now, 1) }));
    await addKey(opened(), draft({ accountId, expiresAt: now }));
    const revoked = await addKey(opened(), draft({ accountId, expiresAt: later(now, HOUR) }));
    await revokeKey(opened(), revoked.id, now);
    await addKey(opened(), draft());
    expect(await keys.listActive(accountId, now)).toEqual([lasting, ending]);
    expect(await keys.listActive(accountId, later(now, 1))).toEqual([lasting]);
  });

  it('lists an account’s past keys, the latest end first', async () => {
    const { apiKeys: keys } = opened();
    const { id: accountId } = await openAccount();
    const over: ApiKey[] = [];
    for (let minutes = 0; minutes < 7; minutes += 1) {
      // Two keys end at each instant; one expires and one is revoked first.
      const endsAt = later(now, -Math.floor(minutes / 2) * MINUTE);
      const isRevoked = minutes % 3 === 0;
      const key = await addKey(opened(), draft({ accountId, expiresAt: isRevoked ? later(now, HOUR) : endsAt }));
      over.push(isRevoked ? await revokeKey(opened(), key.id, endsAt) : key);
    }
    await addKey(opened(), draft({ accountId }));
    await addKey(opened(), draft({ accountId, expiresAt: later(now, 1) }));
    await addKey(opened(), draft({ expiresAt: now }));
    const expected = over.toSorted(
      (one, other) => Number(endOf(other)) - Number(endOf(one)) || Number(other.id - one.id),
    );
    expect(await keys.listPast({ accountId, at: now, limit: 10 })).toEqual(expected);
    expect(await keys.listPast({ accountId, at: now, limit: 3 })).toEqual(expected.slice(0, 3));
  });

  /** A key in each state at `now`, and one that was revoked at its expiry, which counts as expired. */
  const oneOfEach = async (accountId: AccountId) => {
    const active = await addKey(opened(), draft({ accountId, expiresAt: later(now, 1) }));
    const { id: disabledId } = await addKey(opened(), draft({ accountId }));
    const expired = await addKey(opened(), draft({ accountId, expiresAt: now }));
    const { id: revokedId } = await addKey(opened(), draft({ accountId, expiresAt: later(now, HOUR) }));
    const { id: endedId } = await addKey(opened(), draft({ accountId, expiresAt: later(now, HOUR) }));
    const disabled = await opened().apiKeys.change(disabledId, (state) =>
      decideDisabling(state, { id: disabledId, isDisabled: true }, now),
    );
    const revoked = await revokeKey(opened(), revokedId, now);
    const ended = await revokeKey(opened(), endedId, later(now, HOUR));
    return { active: [active], disabled: [disabled], expired: [ended, expired], revoked: [revoked] };
  };

  it('finds an account’s keys by state, newest first', async () => {
    const { apiKeys: keys } = opened();
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
  });

  it('finds an account’s keys by a part of the name, whichever characters it has', async () => {
    const { apiKeys: keys } = opened();
    const { id: accountId } = await openAccount();
    const names = ['Shop website', 'workshop', '50% off_', String.raw`back\slash`, undefined];
    for (const name of names) await addKey(opened(), draft({ accountId, name }));
    await addKey(opened(), draft({ name: 'shop of others' }));
    const search = async (name: string) =>
      (await keys.search({ accountId, states: KEY_STATES, name, at: now, limit: 10 })).map((key) => key.name);
    expect(await search('SHOP')).toEqual(['workshop', 'Shop website']);
    expect(await search('0% o')).toEqual(['50% off_']);
    expect(await search('_')).toEqual(['50% off_']);
    expect(await search('%s')).toEqual([]);
    expect(await search(String.raw`k\s`)).toEqual([String.raw`back\slash`]);
  });

  it('finds keys page by page, forwards and back, each once', async () => {
    const { apiKeys: keys } = opened();
    const { id: accountId } = await openAccount();
    const added: ApiKey[] = [];
    for (let number = 0; number < 7; number += 1) {
      const key = await addKey(opened(), draft({ accountId, name: number === 3 ? 'other' : `shop ${number}` }));
      added.unshift(number % 2 === 0 ? key : await revokeKey(opened(), key.id, now));
    }
    const choices: readonly (readonly KeyState[])[] = [KEY_STATES, ['active', 'disabled'], ['revoked']];
    for (const states of choices) {
      const expected = added.filter((key) => key.name !== 'other' && states.includes(keyState(key, now)));
      const search = (place: PagePlace<ApiKeyId>) =>
        keys.search({ accountId, states, name: 'shop', at: now, limit: 2, ...place });
      for (const [place, { id }] of expected.entries()) {
        expect(await search({ after: id })).toEqual(expected.slice(place + 1, place + 3));
        expect(await search({ before: id })).toEqual(expected.slice(Math.max(0, place - 2), place));
      }
    }
  });
}
