import { describe, expect, it, jest } from '@jest/globals';
import { limitsOf, plan } from '../accounts/plan.js';
import { createApplication } from '../application.js';
import { DAY, HOUR, instant, later, MINUTE } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';
import { DAYS_SHOWN } from './show-usage.js';

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
    for (let sent = 0; sent < times; sent += 1) await application.meterRequest.execute(key);
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

  it('by day covers the last 30 UTC days, for the account and for each key', async () => {
    const { send, show, issue, one, clock, revokeKey } = await setUp();
    await send(3);
    await revokeKey.execute({ id: one.key.id });
    const other = await issue();
    clock.set(instant(Date.UTC(2026, 1, 1)));
    await send(5, other);
    const { days, keys } = await show();
    expect(days).toHaveLength(DAYS_SHOWN);
    expect(days.map(({ day }) => day)).toEqual(
      Array.from({ length: DAYS_SHOWN }, (_, index) => Date.UTC(2026, 1, 1) - (DAYS_SHOWN - 1 - index) * DAY),
    );
    expect(days.map(({ admitted }) => admitted)).toEqual([...Array.from({ length: 28 }, () => 0), 3, 5]);
    expect(keys.map(({ key }) => key.id)).toEqual([one.key.id, other.key.id]);
    expect(keys.map((each) => each.days.slice(-2).map(({ admitted }) => admitted))).toEqual([
      [3, 0],
      [0, 5],
    ]);
    clock.advance(30 * DAY);
    expect((await show()).keys.map(({ key }) => key.id)).toEqual([other.key.id]);
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
