import type { Account } from '../../accounts/account.js';
import { type ApiKey, endOf, type NewApiKey } from '../../accounts/api-key.js';
import type { ApiKeyRepository, PastKeyPlace } from '../../accounts/api-key-repository.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import { NOON as now } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** The lists of every `ApiKeyRepository`. */
export function apiKeyLists(
  { it, expect }: TestFramework,
  opened: () => ApiKeyRepository,
  openAccount: () => Promise<Account>,
  draft: (changes?: Partial<NewApiKey>) => NewApiKey,
): void {
  it('lists the keys of one account, or of all, ascending by id', async () => {
    const keys = opened();
    const other = await openAccount();
    const added = [await keys.add(draft({ accountId: other.id })), await keys.add(draft({ accountId: other.id }))];
    expect((await keys.list(other.id)).map(({ key }) => key)).toEqual(added);
    const all = (await keys.list()).map(({ key }) => key.id);
    for (const { id } of added) expect(all).toContain(id);
    expect(all).toEqual([...all].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('lists the keys of one account, or of all, a part at a time', async () => {
    const keys = opened();
    const [one, other] = [await openAccount(), await openAccount()];
    const added = [];
    for (const { id: accountId } of [one, other, one, other, one]) added.push(await keys.add(draft({ accountId })));
    const [first, second, third] = added.filter(({ accountId }) => accountId === one.id);
    const part = async (...asked: Parameters<ApiKeyRepository['list']>) =>
      (await keys.list(...asked)).map(({ key }) => key);
    expect(await part(one.id, { limit: 2 })).toEqual([first, second]);
    expect(await part(one.id, { after: second?.id, limit: 2 })).toEqual([third]);
    expect(await part(one.id, { after: third?.id, limit: 2 })).toEqual([]);
    expect(await part(undefined, { after: first?.id, limit: 3 })).toEqual(added.slice(1, 4));
    expect(await part(undefined, { after: first?.id })).toEqual(added.slice(1));
  });

  it('lists only the account’s own keys that are active at an instant', async () => {
    const keys = opened();
    const { id: accountId } = await openAccount();
    const lasting = await keys.add(draft({ accountId }));
    const ending = await keys.add(draft({ accountId, expiresAt: later(now, 1) }));
    await keys.add(draft({ accountId, expiresAt: now }));
    const revoked = await keys.add(draft({ accountId, expiresAt: later(now, HOUR) }));
    await keys.revoke(revoked.id, now);
    await keys.add(draft());
    expect(await keys.listActive(accountId, now)).toEqual([lasting, ending]);
    expect(await keys.listActive(accountId, later(now, 1))).toEqual([lasting]);
  });

  it('lists an account’s past keys, the latest end first, part by part and each once', async () => {
    const keys = opened();
    const { id: accountId } = await openAccount();
    const over: ApiKey[] = [];
    for (let minutes = 0; minutes < 7; minutes += 1) {
      // Two keys end at each instant; one expires and one is revoked first.
      const endsAt = later(now, -Math.floor(minutes / 2) * MINUTE);
      const isRevoked = minutes % 3 === 0;
      const key = await keys.add(draft({ accountId, expiresAt: isRevoked ? later(now, HOUR) : endsAt }));
      over.push(isRevoked ? ((await keys.revoke(key.id, endsAt)) ?? key) : key);
    }
    await keys.add(draft({ accountId }));
    await keys.add(draft({ accountId, expiresAt: later(now, 1) }));
    await keys.add(draft({ expiresAt: now }));
    const expected = over.toSorted(
      (one, other) => Number(endOf(other)) - Number(endOf(one)) || Number(other.id - one.id),
    );
    const walked: ApiKey[] = [];
    for (let before: PastKeyPlace | undefined; ;) {
      const part = await keys.listPast({ accountId, at: now, before, limit: 2 });
      walked.push(...part);
      const last = part.at(-1);
      const endedAt = last && endOf(last);
      if (last === undefined || endedAt === undefined) break;
      before = { endedAt, id: last.id };
    }
    expect(walked).toEqual(expected);
  });
}
