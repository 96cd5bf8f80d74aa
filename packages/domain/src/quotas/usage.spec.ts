import { describe, expect, it, jest } from '@jest/globals';
import type { ApiKeyId } from '../accounts/api-key.js';
import { limitsOf, plan } from '../accounts/plan.js';
import { createApplication } from '../application.js';
import { DAY, HOUR, instant, later, MINUTE, startOf } from '../kernel/clock.js';
import { inMemoryPorts, PredictableCryptography } from '../testing/index.js';
import { checkDrawn, Draws } from '../testing/suites/draws.js';
import { firstOf, periodsUntil, sumOf } from './show-usage.js';
import { USAGE_SPANS } from './request-records.js';

const NOON = instant(Date.UTC(2026, 0, 31, 12));

async function setUp() {
  const ports = inMemoryPorts();
  ports.clock.set(NOON);
  const application = createApplication(ports);
  const account = await application.signUp.execute({ email: 'dev@example.com', password: 'a horse, a battery' });
  const issue = async () => {
    const { text } = await application.issueKey.execute({ accountId: account.id });
    return application.authenticate.execute(text);
  };
  const one = await issue();
  const send = async (times: number, key = one) => {
    for (let sent = 0; sent < times; sent += 1) {
      application.recordRequest.execute(key, { isUse: true, verdict: await application.meterRequest.execute(key) });
    }
  };
  const show = () => application.showUsage.execute({ accountId: account.id });
  return { ...application, ports, clock: ports.clock, account, one, issue, send, show };
}

describe('usage', () => {
  it('of this minute and today matches the limiter’s counts', async () => {
    const { send, show, clock } = await setUp();
    await send(7);
    clock.advance(MINUTE);
    await send(2);
    expect(await show()).toMatchObject({
      plan: { name: 'free' },
      minute: { limit: 60, used: 2, resetsAt: later(NOON, 2 * MINUTE) },
      today: { limit: 1_000, used: 9, resetsAt: Date.UTC(2026, 1, 1) },
      refusedToday: 0,
    });
  });

  it('is not increased by showing it or the limits', async () => {
    const { send, show, meterRequest, one } = await setUp();
    await send(1);
    await meterRequest.look(one);
    await show();
    expect(await show()).toMatchObject({ minute: { used: 1 }, today: { used: 1 } });
    expect((await show()).days.at(-1)).toMatchObject({ admitted: 1, refused: 0 });
    expect((await show()).hours.at(-1)).toMatchObject({ admitted: 1, refused: 0 });
  });

  it('includes refusals, and the end of each key’s ban', async () => {
    const { send, show, one, issue, clock } = await setUp();
    const other = await issue();
    await send(60 + 50, one);
    await send(3, other);
    const until = later(NOON, 5 * MINUTE);
    const shown = await show();
    expect(shown).toMatchObject({ minute: { used: 60 }, refusedToday: 53 });
    expect(shown.bans).toMatchObject([{ key: { id: one.key.id }, until }]);
    clock.set(until);
    expect((await show()).bans).toEqual([]);
  });

  it('includes no ban of a revoked key', async () => {
    const { send, show, one, issue, revokeKey, ports } = await setUp();
    await send(60 + 50);
    for (const { key } of [one, await issue()]) await revokeKey.execute({ id: key.id });
    expect((await show()).bans).toEqual([]);
    const look = jest.spyOn(ports.requests, 'look');
    expect(await show()).toMatchObject({ minute: { used: 60 } });
    // Keys that are over tell the account's windows, and one tells as much as all.
    expect(look).toHaveBeenCalledTimes(1);
  });

  it('by hour and day covers the last 48 UTC hours and 90 UTC days, for the account', async () => {
    const { send, show, issue, one, clock, revokeKey } = await setUp();
    await send(3);
    await revokeKey.execute({ id: one.key.id });
    const other = await issue();
    clock.set(instant(Date.UTC(2026, 1, 1)));
    await send(5, other);
    const { days, hours, keys, total } = await show();
    expect(days.map(({ start }) => start)).toEqual(
      Array.from({ length: 90 }, (_, index) => Date.UTC(2026, 1, 1) - (89 - index) * DAY),
    );
    expect(days.map(({ admitted }) => admitted)).toEqual([...Array.from({ length: 88 }, () => 0), 3, 5]);
    expect(hours.map(({ start }) => start)).toEqual(
      Array.from({ length: 48 }, (_, index) => Date.UTC(2026, 1, 1) - (47 - index) * HOUR),
    );
    expect(hours.flatMap(({ admitted }, index) => (admitted > 0 ? [[index, admitted]] : []))).toEqual([
      [35, 3],
      [47, 5],
    ]);
    expect(total).toEqual({ admitted: 8, refused: 0 });
    const byKey = keys.map((each) => [each.key.id, each.today.admitted, each.hours.admitted, each.days.admitted]);
    expect(byKey).toEqual([
      [one.key.id, 0, 3, 3],
      [other.key.id, 5, 5, 5],
    ]);
    clock.advance(90 * DAY);
    expect((await show()).keys.map(({ key }) => key.id)).toEqual([other.key.id]);
  });

  it('leaves the shown hours and days at their ends', async () => {
    const { send, show, clock } = await setUp();
    await send(1);
    const sums = async () => {
      const { hours, days } = await show();
      return [sumOf(hours).admitted, sumOf(days).admitted];
    };
    // The hour began at noon: its last hour among the 48 ends at noon two days later.
    clock.set(later(NOON, 2 * DAY - 1));
    expect(await sums()).toEqual([1, 1]);
    clock.set(later(NOON, 2 * DAY));
    expect(await sums()).toEqual([0, 1]);
    clock.set(later(startOf(DAY, NOON), 90 * DAY - 1));
    expect(await sums()).toEqual([0, 1]);
    clock.set(later(startOf(DAY, NOON), 90 * DAY));
    expect(await sums()).toEqual([0, 0]);
  });

  it('may be that of one key, while limits, refusals of today and the table stay those of the account', async () => {
    const { send, showUsage, issue, one, account, openAccount, issueKey } = await setUp();
    const other = await issue();
    await send(2, other);
    await send(60, one);
    const shown = await showUsage.execute({ accountId: account.id, keyId: other.key.id });
    expect(shown.key).toMatchObject({ id: other.key.id });
    expect([sumOf(shown.hours), sumOf(shown.days)]).toEqual([0, 1].map(() => ({ admitted: 2, refused: 0 })));
    expect(shown).toMatchObject({ minute: { used: 60 }, refusedToday: 2, total: { admitted: 60, refused: 2 } });
    expect(shown.keys.map(({ days }) => days.admitted)).toEqual([58, 2]);
    const strangers = await openAccount.execute({ email: 'other@example.com', plan: plan('free') });
    const theirs = (await issueKey.execute({ accountId: strangers.id })).key;
    for (const keyId of [theirs.id, 999n as ApiKeyId]) {
      await expect(showUsage.execute({ accountId: account.id, keyId })).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('is as of the last request that is included', async () => {
    const { send, show, clock } = await setUp();
    expect((await show()).asOf).toBeUndefined();
    await send(1);
    clock.advance(MINUTE);
    await send(1);
    clock.advance(HOUR);
    expect((await show()).asOf).toBe(later(NOON, MINUTE));
    clock.advance(2 * DAY);
    expect((await show()).asOf).toBeUndefined();
  });

  it('is that of each key that works and of those that are over and were used, ascending by id', async () => {
    const { show, issue, send, one, revokeKey } = await setUp();
    const [over, , unused] = [await issue(), await issue(), await issue()];
    await send(1, over);
    for (const { key } of [over, unused]) await revokeKey.execute({ id: key.id });
    expect((await show()).keys.map(({ key }) => key.id - one.key.id)).toEqual([0n, 1n, 2n]);
  });

  it('is empty for an account without keys, and not found for a closed one', async () => {
    const { openAccount, showUsage, closeAccount, account } = await setUp();
    const { id } = await openAccount.execute({ email: 'none@example.com', plan: plan('pro') });
    const { perMinute, perDay } = limitsOf(plan('pro'));
    expect(await showUsage.execute({ accountId: id })).toMatchObject({
      minute: { limit: perMinute, used: 0, resetsAt: later(NOON, MINUTE) },
      today: { limit: perDay, used: 0, resetsAt: later(NOON, 12 * HOUR) },
      keys: [],
      bans: [],
    });
    await closeAccount.execute({ accountId: account.id, password: 'a horse, a battery' });
    await expect(showUsage.execute({ accountId: account.id })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the hours and days shown', () => {
  it('of drawn times: follow each other without a gap, end with the current one, and hold what was recorded', async () => {
    const cryptography = new PredictableCryptography(jest.getSeed());
    const draws = new Draws(() => cryptography.randomBytes(4).reduce((sum, byte) => 256 * sum + byte, 0) / 2 ** 32);
    await checkDrawn(
      500,
      () => ({
        span: draws.pick(['hour', 'day'] as const),
        count: draws.integer(1, 100),
        // Often at an edge.
        now: instant(
          Date.UTC(2026, draws.integer(0, 11)) + draws.integer(0, 800) * HOUR + draws.pick([0, -1, 1, 7_777]),
        ),
        ago: draws.many(0, 20, () => draws.integer(0, 120)),
      }),
      async ({ span, count, now, ago }) => {
        const length = USAGE_SPANS[span];
        const current = startOf(length, now);
        const records = [...new Set(ago)].map((each) => ({
          start: later(current, -each * length),
          admitted: each + 1,
          refused: 1,
        }));
        const shown = periodsUntil(span, count, now, records);
        expect(shown).toHaveLength(count);
        expect(shown[0]?.start).toBe(firstOf(span, count, now));
        expect(shown.at(-1)?.start).toBe(current);
        expect(now - current).toBeLessThan(length);
        shown.forEach(({ start }, index) => {
          expect(start).toBe(later(current, (index - count + 1) * length));
        });
        expect(sumOf(shown)).toEqual(sumOf(records.filter(({ start }) => start > later(current, -count * length))));
        return Promise.resolve();
      },
    );
  });
});
