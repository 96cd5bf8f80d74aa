import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it, jest } from '@jest/globals';
import type { ApiKeyId } from '../accounts/keys/api-key.js';
import { PLANS } from '../accounts/plan.js';
import { createApplication } from '../application.js';
import { DAY, HOUR, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import { keptPath } from './failed-requests.js';
import { sumOf } from './get-usage.js';
import type { ListFailedRequestsInput } from './use-cases.js';

const NOON = instant(Date.UTC(2026, 0, 1, 12));

async function openAccount() {
  const ports = inMemoryPorts();
  ports.clock.set(NOON);
  const application = createApplication(ports, testPolicy(), { opensUnproven: true });
  const account = await application.signUp.execute({ email: 'dev@example.com', password: 'a horse, a battery' });
  const issue = async () => {
    const { text } = await application.issueKey.execute({ accountId: account.id, name: 'till' });
    return application.authenticate.execute(text);
  };
  const one = await issue();
  const send = async (times: number, key = one) => {
    for (let sent = 0; sent < times; sent += 1) {
      application.recordRequest.execute(key, { isUse: true, verdict: await application.meterRequest.execute(key) });
    }
  };
  const show = () => application.getUsage.execute({ accountId: account.id });
  return { ...application, ports, clock: ports.clock, account, accountId: account.id, one, issue, send, show };
}

describe('usage', () => {
  it('of this minute and today matches the limiter’s counts, and is not increased by showing it or the limits', async () => {
    const { send, show, clock, meterRequest, one } = await openAccount();
    await send(7);
    clock.advance(MINUTE);
    await send(2);
    await meterRequest.peek(one);
    await show();
    const minute = { limit: 60, used: 2, resetsAt: later(NOON, 2 * MINUTE) };
    const today = { limit: 1_000, used: 9, resetsAt: Date.UTC(2026, 0, 2) };
    expect(await show()).toMatchObject({ plan: PLANS.free, minute, today, refusedToday: 0, asOf: later(NOON, MINUTE) });
  });

  it('includes refusals, and the end of the ban of each key that isn’t revoked', async () => {
    const { send, show, one, issue, clock, revokeKey, ports } = await openAccount();
    const other = await issue();
    await send(60 + 50, one);
    await send(3, other);
    const until = later(NOON, 5 * MINUTE);
    const shown = await show();
    expect(shown).toMatchObject({ minute: { used: 60 }, refusedToday: 53 });
    expect(shown.bans).toMatchObject([{ key: { id: one.key.id }, until }]);
    for (const { key } of [one, other]) await revokeKey.execute({ id: key.id });
    // Keys that are over tell the account's windows, and one tells as much as all.
    const look = jest.spyOn(ports.requests, 'peek');
    expect(await show()).toMatchObject({ minute: { used: 60 }, bans: [] });
    expect(look).toHaveBeenCalledTimes(1);
    clock.set(until);
    expect((await show()).bans).toEqual([]);
  });

  it('by hour and day covers the last 48 UTC hours and 90 UTC days, for the account', async () => {
    const { send, show, issue, one, clock, revokeKey } = await openAccount();
    await send(3);
    await revokeKey.execute({ id: one.key.id });
    const other = await issue();
    const midnight = instant(Date.UTC(2026, 0, 2));
    clock.set(midnight);
    await send(5, other);
    const { days, hours, keys, total } = await show();
    expect([days.length, days[0]?.start, days.at(-1)?.start]).toEqual([90, midnight - 89 * DAY, midnight]);
    expect(days.map(({ admitted }) => admitted)).toEqual([...Array.from({ length: 88 }, () => 0), 3, 5]);
    expect([hours.length, hours[0]?.start, hours.at(-1)?.start]).toEqual([48, midnight - 47 * HOUR, midnight]);
    expect([hours[35]?.admitted, hours[47]?.admitted, sumOf(hours).admitted]).toEqual([3, 5, 8]);
    expect(total).toEqual({ admitted: 8, refused: 0 });
    expect(keys).toMatchObject([
      { key: { id: one.keyId }, today: { admitted: 0 }, hours: { admitted: 3 }, days: { admitted: 3 } },
      { key: { id: other.keyId }, today: { admitted: 5 }, hours: { admitted: 5 }, days: { admitted: 5 } },
    ]);
    clock.advance(90 * DAY);
    expect((await show()).keys).toMatchObject([{ key: { id: other.keyId } }]);
  });

  it('may be that of one key, while limits, refusals of today and the table stay those of the account', async () => {
    const { send, getUsage, issue, one, accountId, openAccount: open, issueKey } = await openAccount();
    const other = await issue();
    await send(2, other);
    await send(60, one);
    const shown = await getUsage.execute({ accountId, keyId: other.keyId });
    expect([sumOf(shown.hours).admitted, sumOf(shown.days).admitted]).toEqual([2, 2]);
    const ofAccount = { minute: { used: 60 }, refusedToday: 2, total: { admitted: 60, refused: 2 } };
    expect(shown).toMatchObject({ key: { id: other.keyId }, ...ofAccount });
    expect(shown.keys).toMatchObject([{ days: { admitted: 58 } }, { days: { admitted: 2 } }]);
    const strangers = await open.execute({ email: 'other@example.com' });
    const theirs = (await issueKey.execute({ accountId: strangers.id })).key;
    for (const keyId of [theirs.id, 999n as ApiKeyId])
      await expect(getUsage.execute({ accountId, keyId })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is empty for an account without keys, and not found for a closed one', async () => {
    const { openAccount: open, getUsage, closeAccount, accountId, show } = await openAccount();
    const { id } = await open.execute({ email: 'none@example.com', plan: PLANS.pro });
    const minute = { limit: 300, used: 0, resetsAt: later(NOON, MINUTE) };
    const today = { limit: 10_000, used: 0, resetsAt: later(NOON, 12 * HOUR) };
    expect(await getUsage.execute({ accountId: id })).toMatchObject({ minute, today, keys: [], bans: [] });
    await closeAccount.execute({ accountId, password: 'a horse, a battery' });
    await expect(show()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an answered request', () => {
  const FAILED = {
    operation: 'GET /v1/pets',
    status: 400,
    code: 'invalid_parameter',
    reason: 'limit must be an integer',
  };

  it('is a use of its key and operation in that minute, unless the key was refused', async () => {
    const { recordRequest, getKey, accountId, one, clock } = await openAccount();
    const shownAfter = async (isUse: boolean, operation?: string) => {
      recordRequest.execute(one, { isUse, operation });
      const { key, operations } = await getKey.execute({ accountId, id: one.keyId });
      return [key.lastUsedAt, operations];
    };
    expect(await shownAfter(false, 'list')).toEqual([undefined, []]);
    clock.set(later(NOON, 61 * SECOND));
    expect(await shownAfter(true)).toEqual([later(NOON, MINUTE), []]);
    clock.set(later(NOON, 121 * SECOND));
    const list = [{ operation: 'list', lastUsedAt: later(NOON, 2 * MINUTE) }];
    expect(await shownAfter(true, 'list')).toEqual([later(NOON, 2 * MINUTE), list]);
  });

  it('is counted by the verdict of the limits, if they were asked', async () => {
    const { recordRequest, send, one, ports, accountId } = await openAccount();
    recordRequest.execute(one, { isUse: true });
    expect(await ports.requestRecords.listUsage(accountId, 'hour', NOON)).toEqual([]);
    await send(61);
    const used = [{ start: NOON, admitted: 60, refused: 1 }];
    expect(await ports.requestRecords.listUsage(accountId, 'hour', NOON)).toEqual(used);
    expect(await ports.requestRecords.listFailedRequests(accountId)).toEqual([]);
  });

  it('that failed is shown with its time, key, operation, status, code, reason and id', async () => {
    const { recordRequest, listFailedRequests, accountId, one, clock } = await openAccount();
    recordRequest.execute(one, { isUse: true, failedRequest: { ...FAILED, requestId: 'request-1' } });
    clock.advance(SECOND);
    const longer = { ...FAILED, reason: 'x'.repeat(301) };
    recordRequest.execute(one, { isUse: true, failedRequest: { ...longer, requestId: 'request-2' } });
    const key = { keyId: one.keyId, key: { name: 'till', ending: one.key.ending } };
    const first = { ...FAILED, ...key, at: NOON, count: 1, requestIds: ['request-1'] };
    const { failedRequests } = await listFailedRequests.execute({ accountId });
    expect(failedRequests).toMatchObject([{ requestIds: ['request-2'], reason: `${'x'.repeat(299)}…` }, first]);
  });

  it('that failed is found by its id, its code, its key, and by all together', async () => {
    const { recordRequest, listFailedRequests, accountId, one, issue } = await openAccount();
    const two = await issue();
    const fail = (key: typeof one, code: string, requestId: string) => {
      recordRequest.execute(key, { isUse: true, failedRequest: { ...FAILED, code, requestId } });
    };
    fail(one, 'not_found', 'a');
    fail(one, 'not_found', 'b');
    fail(one, 'invalid_json', 'c');
    fail(two, 'not_found', 'd');
    const found = async (input: Omit<ListFailedRequestsInput, 'accountId'>) => {
      const { failedRequests, all } = await listFailedRequests.execute({ accountId, ...input });
      expect(all).toHaveLength(3);
      return failedRequests.map(({ requestIds }) => requestIds.join()).sort();
    };
    expect(await found({})).toEqual(['b,a', 'c', 'd']);
    for (const requestId of ['a', 'b']) expect(await found({ requestId })).toEqual(['b,a']);
    for (const requestId of ['', 'b,a', '%', 'B']) expect(await found({ requestId })).toEqual([]);
    expect(await found({ code: 'not_found' })).toEqual(['b,a', 'd']);
    expect(await found({ keyId: one.keyId })).toEqual(['b,a', 'c']);
    expect(await found({ keyId: one.keyId, code: 'not_found', requestId: 'd' })).toEqual([]);
  });
});

describe('what is kept of an unknown path', () => {
  it('is the path, without what looks like a key or an address, in any encoding, at most 100 characters', () => {
    const key = 'aas_live_0123456789abcdefghijABCDEFGHIJ012345';
    for (const [path, kept] of [
      ['/v1/pet', '/v1/pet'],
      ['/v1/pets/{petId}/pictures', '/v1/pets/{petId}/pictures'],
      ['/v1/animals/23', '/v1/animals/23'],
      [`/v1/pets/23/${key}`, '/v1/pets/23/…'],
      [`/${key.toUpperCase()}/pets`, '/…/pets'],
      ['/v1/aas_live_short', '/v1/…'],
      ['/v1/keys/0b9d5a0e-7f3c-4d57-9a34-0d8a6f3c9b1e', '/v1/keys/…'],
      ['/v1/accounts/luna@example.com/pets', '/v1/accounts/…/pets'],
      ['/v1/accounts/luna%40example.com', '/v1/accounts/…'],
      ['/v1/accounts/luna%2540example.com', '/v1/accounts/…'],
      ['/v1/from/192.0.2.17', '/v1/from/…'],
      ['/v1/from/2001:db8::1', '/v1/from/…'],
      ['/v1/%ff', '/v1/…'],
      [`/${'a'.repeat(200)}`, `/${'a'.repeat(98)}…`],
    ] as const)
      expect({ path, kept: keptPath(path) }).toEqual({ path, kept });
  });
});
